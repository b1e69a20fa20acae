// Functions that run for ever beside others need Vitis' own simulation: calling them once would be another program.
#error "hls_task.h has no stand-in: call the stages one after the other (DATAFLOW), or name Vitis' headers in FTENSOR_VITIS_INCLUDE"
