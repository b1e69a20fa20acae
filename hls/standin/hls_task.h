// Free-running functions need Vitis' own simulation: called once, they would behave differently.
#error "hls_task.h has no stand-in: call the stages one after the other (DATAFLOW), or name Vitis' headers in FTENSOR_VITIS_INCLUDE"
