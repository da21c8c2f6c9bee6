// Package ingest recognises inputs by their content and reads them into the
// trace model. Each format has its own package below this one.
//
// Inputs are not trusted: no path inside an input leads out of it, sizes are
// bounded, archives are read in place, and nothing is ever written.
package ingest
