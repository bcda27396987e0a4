package kettle

import "github.com/acme/kettle/lid"

var Lid = lid.New()
