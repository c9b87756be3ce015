package search

// These are a learning search's internals of an axis.
var (
	At        = (*Axis).at
	Place     = (*Axis).place
	WidthOf   = widthOf
	DensityOf = (*Axis).density
)

// Attempts limits how often a choice is drawn again.
const Attempts = attempts

func Mixture(width float64, places ...float64) *density {
	return &density{places: places, width: width}
}

func (d *density) Draw(which, normal float64) float64 { return d.draw(which, normal) }
func (d *density) At(place float64) float64           { return d.at(place) }
func (d *density) Width() float64                     { return d.width }
