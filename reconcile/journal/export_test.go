package journal

import (
	"context"
)

// OpenFaulty opens a journal whose files go through the faulty layer.
func OpenFaulty(ctx context.Context, path string, binding Binding) (*Journal, error) {
	if err := registerFaults(); err != nil {
		return nil, err
	}
	return OpenWith(ctx, path, binding, Options{Reserve: -1, parameters: "&vfs=" + faultsName})
}
