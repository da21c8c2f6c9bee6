// Package rocpd reads rocpd databases, the SQLite files that rocprofv3 and
// rocprofiler-systems write, of every schema: which tables and columns there
// are decides, not the version that the file claims.
//
// One file holds one table set per process, "rocpd_kernel_dispatch" and so on
// followed by a suffix; ids repeat between sets. The views in the file are not
// used: they drop rows whose joins fail.
//
// Small tables are read with SQL. Dispatches are decoded from the pages of
// their table, which takes a fraction of the time; a table that is not an
// ordinary one is read with SQL as well. SQLite sees the file through a
// read-only image of it, so that nothing is ever written beside it, and rows
// that are still in a write-ahead log are read.
//
// Sources: rocprofiler-sdk rocpd schema (rocpd_tables.sql), SQLite "Database
// File Format".
package rocpd
