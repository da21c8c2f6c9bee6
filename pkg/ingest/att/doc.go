// Package att reads decoded thread traces: the "ui_output_agent_*_dispatch_*"
// directories that rocprofv3 --att writes, into the model of package trace.
//
// A directory holds code.json (one row per instruction), filenames.json (the
// list of waves), one se*_sm*_sl*_wv*.json per wave, occupancy.json,
// realtime.json, se*_perfcounter.json, and snapshots.json with copies of
// source files. The formats are those of rocprofiler-sdk's att-tool (code.cpp,
// filenames.cpp, wave.cpp, occupancy.cpp), versions 3.0.0 and 3.1.0, and of
// ROCprof Compute Viewer's program-counter samples.
//
// Inputs are not trusted: every file has a size limit, every number a range, and
// no name inside a file can lead out of its directory. A damaged part is left
// out, counted, and noted; it does not lose the rest.
package att
