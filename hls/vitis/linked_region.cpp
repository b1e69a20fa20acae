static void run($parameters)
{
#pragma HLS DATAFLOW
    FT_REGION
    $fifos
    $processes
    FT_JOIN
}
