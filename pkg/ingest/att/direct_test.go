package att

import (
	"errors"
	"io/fs"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/kerneltrace"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// direct reads every companion table anew.
type direct struct{}

func (direct) KernelTrace(fsys fs.FS, name, shown string) (t *kerneltrace.Table, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	t, err = kerneltrace.Read(f, shown)
	return t, errors.Join(err, f.Close())
}

func (direct) Agents(fsys fs.FS, name, shown string) (agents []trace.Agent, notes []trace.Note, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	agents, notes, err = kerneltrace.ReadAgents(f, shown)
	return agents, notes, errors.Join(err, f.Close())
}
