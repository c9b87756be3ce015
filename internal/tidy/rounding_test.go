package tidy

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestProductsAreRounded finds floating-point products that a compiler may fuse with a sum into one instruction, which rounds once instead of twice. Some
// architectures have that instruction, and whether the compiler finds the sum depends on what it inlines, so two builds could compute different results.
// By the Go specification an explicit conversion, float64(x*y), rounds. So each product is converted at once, unless it cannot be the operand of a sum: a
// factor, a divisor or dividend, an operand of a comparison, an argument of package math (except for Dim), min or max, a value that is stored in an
// interface. A quotient by a constant power of two is compiled as a product. Complex numbers are neither multiplied nor divided.
func TestProductsAreRounded(t *testing.T) {
	t.Parallel()
	set, all := examined(t)
	for _, p := range all {
		for _, pos := range unrounded(p.info, p.trees) {
			t.Errorf("%s: want float64(...) around this product: otherwise it may be fused with a sum, on some machines", set.Position(pos))
		}
	}
}

// typed is a package of botd's, without its tests, and the types of its expressions.
type typed struct {
	path  string
	trees []*ast.File
	info  *types.Info
}

// examination is the result of examined, shared by all tests.
var examination struct {
	once sync.Once
	set  *token.FileSet
	all  []typed
}

// examined returns every package of botd's.
func examined(t *testing.T) (*token.FileSet, []typed) {
	t.Helper()
	examination.once.Do(func() {
		set := token.NewFileSet()
		examination.set = set
		own := listing(t, "-deps", "./...") // a package follows its dependencies
		imports := &checked{importer: compiled(t, set, own), packages: map[string]*types.Package{}}
		for i := range own {
			p := &own[i]
			if !p.isOwn() {
				continue
			}
			var trees []*ast.File
			for _, name := range p.GoFiles {
				tree, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
				if err != nil {
					t.Fatal(err)
				}
				trees = append(trees, tree)
			}
			examination.all = append(examination.all, typed{p.ImportPath, trees, imports.check(t, set, p.ImportPath, trees)})
		}
	})
	if have := len(examination.all); have < 50 {
		t.Fatalf("want every package examined, have %d", have)
	}
	return examination.set, examination.all
}

// built is a package as the go command lists it.
type built struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
	Module                  *struct{ Path string }
}

func (b *built) isOwn() bool { return b.Module != nil && b.Module.Path == "botd" }

func listing(t *testing.T, arguments ...string) (all []built) {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Export,GoFiles,Imports,Module"}, arguments...)...)
	command.Dir = root(t)
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(output)); decoder.More(); {
		var one built
		if err := decoder.Decode(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// compiled imports what botd's packages import of others, from the build cache. Botd's own packages need not be compiled.
func compiled(t *testing.T, set *token.FileSet, own []built) types.Importer {
	t.Helper()
	foreign := map[string]bool{}
	for i := range own {
		for _, path := range own[i].Imports {
			if own[i].isOwn() && !strings.HasPrefix(path, "botd/") {
				foreign[path] = true
			}
		}
	}
	exports := map[string]string{}
	for _, p := range listing(t, append([]string{"-export", "-deps"}, slices.Sorted(maps.Keys(foreign))...)...) {
		exports[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

// checked imports packages that were checked before, and others by its importer.
type checked struct {
	importer types.Importer
	packages map[string]*types.Package
}

func (c *checked) Import(path string) (*types.Package, error) {
	if p := c.packages[path]; p != nil {
		return p, nil
	}
	return c.importer.Import(path)
}

// check determines the types of a package's expressions.
func (c *checked) check(t *testing.T, set *token.FileSet, path string, trees []*ast.File) *types.Info {
	t.Helper()
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Instances: map[*ast.Ident]types.Instance{}}
	config := types.Config{Importer: c}
	p, err := config.Check(path, set, trees, info)
	if err != nil {
		t.Fatal(err)
	}
	c.packages[path] = p
	return info
}

// unrounded returns the products of a package that are not converted, and may be the operand of a sum.
func unrounded(info *types.Info, trees []*ast.File) (found []token.Pos) {
	for _, tree := range trees {
		var above []ast.Node
		ast.Inspect(tree, func(node ast.Node) bool {
			if node == nil {
				above = above[:len(above)-1]
				return true
			}
			if isComplexProduct(info, node) || isProduct(info, node) && !harmless(info, node, above) {
				found = append(found, node.Pos())
			}
			above = append(above, node)
			return true
		})
	}
	return found
}

// isProduct reports whether a node multiplies floating-point numbers when the program runs: x*y, x *= y, and x/2.
func isProduct(info *types.Info, node ast.Node) bool {
	switch n := node.(type) {
	case *ast.BinaryExpr:
		return isFloat(info, n) && info.Types[n].Value == nil && multiplies(info, n.Op == token.MUL, n.Op == token.QUO, n.Y)
	case *ast.AssignStmt:
		return isFloat(info, n.Lhs[0]) && multiplies(info, n.Tok == token.MUL_ASSIGN, n.Tok == token.QUO_ASSIGN, n.Rhs[0])
	}
	return false
}

func isFloat(info *types.Info, e ast.Expr) bool {
	return info.TypeOf(e) != nil && includes(info.TypeOf(e), types.IsFloat)
}

// isComplexProduct reports whether a node multiplies or divides complex numbers: that adds products, which no conversion reaches.
func isComplexProduct(info *types.Info, node ast.Node) bool {
	switch n := node.(type) {
	case *ast.BinaryExpr:
		return (n.Op == token.MUL || n.Op == token.QUO) && info.Types[n].Value == nil && includes(info.TypeOf(n), types.IsComplex)
	case *ast.AssignStmt:
		return (n.Tok == token.MUL_ASSIGN || n.Tok == token.QUO_ASSIGN) && includes(info.TypeOf(n.Lhs[0]), types.IsComplex)
	}
	return false
}

// includes reports whether a type is of a kind, or is a type parameter with such a type in its set.
func includes(of types.Type, kind types.BasicInfo) bool {
	switch x := of.Underlying().(type) {
	case *types.Basic:
		return x.Info()&kind != 0
	case *types.Union:
		for term := range x.Terms() {
			if includes(term.Type(), kind) {
				return true
			}
		}
	case *types.Interface:
		for embedded := range x.EmbeddedTypes() {
			if includes(embedded, kind) {
				return true
			}
		}
	}
	return false
}

func multiplies(info *types.Info, product, quotient bool, by ast.Expr) bool {
	if value := info.Types[by].Value; quotient && value != nil {
		divisor, _ := constant.Float64Val(constant.ToFloat(value))
		fraction, _ := math.Frexp(divisor)
		return math.Abs(fraction) == 0.5
	}
	return product
}

// harmless reports whether the expression that contains a product (the innermost of the nodes above it)
// rounds it, or adds nothing to it.
func harmless(info *types.Info, product ast.Node, above []ast.Node) bool {
	for i := len(above) - 1; i >= 0; i-- {
		switch n := above[i].(type) {
		case *ast.ParenExpr:
		case *ast.UnaryExpr: // a sum with -(x*y) is fused too
		case *ast.BinaryExpr:
			return n.Op != token.ADD && n.Op != token.SUB
		case *ast.AssignStmt:
			return n.Tok == token.MUL_ASSIGN || n.Tok == token.QUO_ASSIGN // judged by itself
		case *ast.CallExpr:
			return takes(info, n, product)
		default:
			return false
		}
	}
	return false
}

// takes reports whether a call receives a product as an argument without adding anything to it.
func takes(info *types.Info, call *ast.CallExpr, product ast.Node) bool {
	if called := info.Types[call.Fun]; called.IsType() {
		return true
	}
	if builtin, is := ast.Unparen(call.Fun).(*ast.Ident); is && info.Types[call.Fun].IsBuiltin() {
		return builtin.Name == "min" || builtin.Name == "max" // real(complex(x*y, 0)) is x*y
	}
	if selector, is := call.Fun.(*ast.SelectorExpr); is && info.Uses[selector.Sel] != nil {
		if p := info.Uses[selector.Sel].Pkg(); p != nil && p.Path() == "math" {
			return selector.Sel.Name != "Dim" // a difference of its arguments
		}
	}
	signature, is := info.Types[call.Fun].Type.(*types.Signature)
	if !is {
		return false
	}
	for i, argument := range call.Args {
		if argument.Pos() <= product.Pos() && product.End() <= argument.End() {
			parameters := signature.Params()
			kind := parameters.At(min(i, parameters.Len()-1)).Type()
			if rest, variadic := kind.(*types.Slice); variadic && signature.Variadic() && i >= parameters.Len()-1 {
				kind = rest.Elem()
			}
			_, open := kind.(*types.TypeParam)
			return types.IsInterface(kind) && !open
		}
	}
	return false
}

// onlyMath returns an importer of a package math with two functions.
func onlyMath() *checked {
	p := types.NewPackage("math", "math")
	float := func() *types.Tuple { return types.NewTuple(types.NewVar(token.NoPos, p, "", types.Typ[types.Float64])) }
	p.Scope().Insert(types.NewFunc(token.NoPos, p, "Sqrt", types.NewSignatureType(nil, nil, nil, float(), float(), false)))
	p.Scope().Insert(types.NewFunc(token.NoPos, p, "Dim", types.NewSignatureType(nil, nil, nil, types.NewTuple(float().At(0), float().At(0)), float(), false)))
	p.MarkComplete()
	return &checked{packages: map[string]*types.Package{"math": p}}
}

func TestUnroundedProductsAreFound(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{
		"return x*y + z":                                         1,
		"return float64(x*y) + z":                                0,
		"return z - (x * y)":                                     1,
		"return z + -x*y":                                        1,
		"z += x * y; return z":                                   1,
		"z += float64(x * y); return z":                          0,
		"p := x * y; return p + z":                               1,
		"return x * y":                                           1,
		"x *= y; return x + z":                                   1,
		"x /= y; return x + z":                                   0,
		"return x/2 + z":                                         1,
		"x /= 8; return x + z":                                   1,
		"return x/10 + x/y":                                      0,
		"return x*y*z/3 + 2*4":                                   0,
		"return inner(x*y, z)":                                   1,
		"return inner(float64(x*y), z)":                          0,
		"return min(x*y, z) + z":                                 0,
		"if x*y > z { return z }; return x":                      0,
		"return math.Sqrt(x*y) + z":                              0,
		"return [2]float64{x * y}[0] + z":                        1,
		"println(any(x*y)); return z":                            0,
		"show(z, x*y); return z":                                 0,
		"i, j := 2, 3; return float64(i*j+i) + z":                0,
		"return real(complex(x*y, 0)) + z":                       1,
		"c := complex(x, y); c = c*c + c; return real(c)":        1,
		"c := complex(x, y); c = c/c + c*2; return real(c)":      2,
		"c := complex(x, y); c *= complex128(c); return real(c)": 1,
		"return (min)(x*y, z) + z":                               0,
		"list := append([]float64{}, x*y); return list[0] + z":   1,
		"return math.Dim(x*y, z)":                                1,
		"return z }\nfunc sum[T ~float64](x, y T) T { return x + y }\nfunc bad[T ~float64](x, y, z T) T { return sum(x*y, z)": 1,
		"return product(x, y, z)": 0,
		"return z }\nfunc bad[T ~float64](x, y, z T) T { return x*y + z":                  1,
		"return z }\nfunc bad[T interface{ number }](x, y, z T) T { return x*y + z":       1,
		"return z }\nfunc bad[T ~int | number](x, y, z T) T { x *= y; return x + z":       1,
		"return z }\nfunc good[T number](x, y, z T) T { return T(x*y) + z":                0,
		"return z }\nfunc good[T ~int](x, y, z T) T { return x*y + z":                     0,
		"return z }\ntype price float64\nfunc bad[T price](x, y, z T) T { return x*y + z": 1,
	} {
		set, imports := token.NewFileSet(), onlyMath()
		text := "package x\nimport \"math\"\nfunc inner(a, b float64) float64 { return a + b }\nfunc show(a float64, values ...any) {}\n" +
			"type number interface { ~int64 | ~float64 }\nfunc product[T number](x, y, z T) T { return T(x*y) + z }\n" +
			"func f(x, y, z float64) float64 { _ = math.Sqrt; " + code + " }"
		tree, err := parser.ParseFile(set, "x.go", text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if have := unrounded(imports.check(t, set, "x", []*ast.File{tree}), []*ast.File{tree}); len(have) != want {
			t.Errorf("%s\nwant %d findings, have %d", code, want, len(have))
		}
	}
}
