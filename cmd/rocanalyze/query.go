package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/rocpd"
	"github.com/rocanalyze/rocanalyze/pkg/report"

	"github.com/rocanalyze/rocanalyze/pkg/view"
)

func newQuery(a *app) *cobra.Command {
	var f view.Values
	cmd := &cobra.Command{
		Use:   "query DATABASE SQL",
		Short: "Run read-only SQL on a rocpd database of any schema",
		Long: `Runs one SQL query on a rocpd database. The tables' names without suffix work in
every schema version and stand for all processes in the file, as do three views
that keep the rows that the file's own views drop:

  kernels              one row per dispatch, with its kernel, GPU and registers
  memory_copies        one row per copy
  counters_collection  one row per dispatch and counter, summed over instances

In schema 4 the columns that moved to rocpd_track and rocpd_timestamp (agent_id,
queue_id, start, end, ...) are there as in schema 3. Ids repeat between the
processes of one file: join by guid as well. Times are nanoseconds.

Nothing is written, neither to the file nor beside it. Environments of processes
may hold secrets and read as NULL.

Exit status:
  0  done
  2  bad usage, an input that cannot be read, or a query that is refused`,
		Example: `  rocanalyze query out.db "SELECT name, count(*), sum(duration) FROM kernels GROUP BY name"
  rocanalyze query out.db "SELECT * FROM rocpd_info_kernel_symbol" --format json --top 0
  rocanalyze query out.db "PRAGMA table_info(rocpd_kernel_dispatch)"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("give a DATABASE and one SQL query in quotes (see '%s --help')", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.query(cmd.Context(), f, args[0], args[1]) },
	}
	f = plain(cmd, append([]string{"quiet"}, fileFlags...), view.Flag{Name: "top", Default: 1000, Usage: "`rows` read; 0 reads all"})
	return cmd
}

// queryOutput is the machine output of the command. Columns gives the order of
// a row's values.
type queryOutput struct {
	Columns []string         `json:"columns"`
	Rows    []map[string]any `json:"rows"`
	More    bool             `json:"more_rows"`
}

func (a *app) query(ctx context.Context, f view.Values, path, sql string) error {
	top := f.Int("top")
	if err := f.Check(nil); err != nil {
		return err
	}
	busy := a.busy("querying " + path)
	defer busy.stop()
	res, err := ingest.Query(ctx, a.stdin, path, sql, top)
	if err != nil {
		return err
	}
	busy.stop()
	if len(res.Columns) == 0 {
		return errors.New("the query gives no columns: give a SELECT")
	}
	names := uniqueNames(res.Columns)
	t := queryTable(names, res)
	doc := report.Document{Sections: []report.Section{{ID: "query", Items: []report.Item{t}}}}
	if err := a.print(f, shown{doc: doc, table: t, result: queryJSON(names, res), env: envelope("query", []string{path}, false, nil)}); err != nil {
		return err
	}
	if res.More && !f.Is("quiet") {
		a.warn([]string{fmt.Sprintf("warning: only the first %d rows were read: --top 0 reads all", top)})
	}
	return nil
}

// uniqueNames makes the names of columns different: "id", "id_2".
func uniqueNames(columns []string) []string {
	seen := map[string]bool{}
	out := make([]string, len(columns))
	for i, c := range columns {
		if c == "" {
			c = "column"
		}
		name := c
		for n := 2; seen[name]; n++ {
			name = fmt.Sprintf("%s_%d", c, n)
		}
		seen[name] = true
		out[i] = name
	}
	return out
}

func queryTable(names []string, res *rocpd.QueryResult) report.Table {
	t := report.Table{ID: "query"}
	for _, n := range names {
		t.Columns = append(t.Columns, report.Column{Key: n, Title: n, Max: 80, Min: 6})
	}
	for _, row := range res.Rows {
		cells := make([]report.Cell, len(row))
		for i, v := range row {
			cells[i] = queryCell(v)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// queryCell shows values as they are; NULL is absent, bytes are hexadecimal.
func queryCell(v any) report.Cell {
	switch v := v.(type) {
	case int64:
		return report.Int(v)
	case float64:
		return report.Cell{Text: fmt.Sprint(v), Value: v}
	case nil:
		return report.Absent("")
	}
	return report.Text(fmt.Sprint(hexBytes(v)))
}

func hexBytes(v any) any {
	if b, ok := v.([]byte); ok {
		return "x'" + hex.EncodeToString(b) + "'"
	}
	return v
}

func queryJSON(names []string, res *rocpd.QueryResult) queryOutput {
	out := queryOutput{Columns: names, Rows: []map[string]any{}, More: res.More}
	for _, row := range res.Rows {
		o := make(map[string]any, len(row))
		for i, v := range row {
			o[names[i]] = hexBytes(v)
		}
		out.Rows = append(out.Rows, o)
	}
	return out
}
