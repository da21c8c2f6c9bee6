package main

import (
	"fmt"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers"
)

// analyzerTopic explains an analyzer by the head of its doc and its parameters.
func analyzerTopic(name string) []topic {
	for _, a := range analyzers.All() {
		if a.Name != name {
			continue
		}
		title, rest, _ := strings.Cut(strings.TrimPrefix(a.Doc, "# "), "\n")
		paragraph, _, _ := strings.Cut(strings.TrimSpace(rest), "\n\n")
		text := title + ". " + paragraph
		for _, p := range a.Params {
			value := strings.TrimSpace(fmt.Sprintf("%g %s", p.Default, p.Unit))
			text += fmt.Sprintf(" Parameter %s.%s (%s): %s.", a.Name, p.Name, value, strings.TrimSuffix(p.Doc, "."))
		}
		return []topic{{Name: a.Name, Kind: "analyzer", Text: text, Source: "analyzers/" + a.Name + "/doc.md"}}
	}
	return nil
}
