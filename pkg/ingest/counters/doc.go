// Package counters reads what ROCm's profilers write about hardware counters:
//
//	rocprofv3            long CSV, one row per dispatch and counter
//	rocpd convert        the same with a GUID
//	rocprof v1, v2       wide CSV, one column per counter
//	rocprofiler-compute  workload directories: wide or long pmc_perf.csv, SQ_*.csv,
//	                     sysinfo.csv, roofline.csv
//	results.json         rocprofv3's JSON, one record per hardware instance
//
// Columns are found by name, so that the tables of all releases are read.
// Tables are streamed: memory does not grow with their length. Sources:
// rocprofiler-sdk output/generateCSV.cpp, generateJSON.cpp; rocprofiler-compute
// utils/parser.py.
package counters
