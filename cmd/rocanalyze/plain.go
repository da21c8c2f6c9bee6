package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// plain gives a command that shows no analysis the common flags of these names.
func plain(cmd *cobra.Command, names []string, more ...view.Flag) view.Values {
	common := slices.DeleteFunc(view.Common(), func(f view.Flag) bool { return !slices.Contains(names, f.Name) })
	return register(cmd, append(common, more...))
}

// Flags of such commands.
var (
	fileFlags = []string{"format", "output", "force", "color"}
	listFlags = []string{"format", "output", "force", "kernel", "device", "verbose", "quiet", "color", "full-names"}
)

// print renders what such a command shows.
func (a *app) print(f view.Values, s shown) error {
	if format := f.Text("format"); !slices.Contains(formats, format) {
		return view.OneOf("--format", format, formats)
	}
	return a.render(target{f.Text("format"), f.Text("color"), destination{f.Text("output"), f.Is("force"), s.env.Inputs}}, s)
}
