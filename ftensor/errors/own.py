"""Messages about kernels of users' own."""

from __future__ import annotations

from .image import ImageError
from .message import Message

# Making one

no_such_file = Message(FileNotFoundError, "there is no file {path!r} with kernels")
not_a_path = Message(TypeError, "file={file!r} ({file!k}) is no path: a str or a pathlib.Path names a file of kernels")
not_a_name = Message(
    TypeError, "name={name!r} ({name!k}) is no kernel's name: that is a str, or None where the file has one kernel"
)
not_a_text = Message(
    TypeError, "text={text!r} ({text!k}) is no text in OpenCL C: give a str; ft.fpga.kernel takes a .cl file"
)
not_words = Message(
    TypeError,
    "{parameter}={words!r} ({words!k}) is no list of words for the compiler, such as ['-DN=4', '-Iinclude'], nor a "
    "string of them",
    "parameter words",
)
not_cut = Message(
    ValueError,
    "{parameter}={words!r} can't be cut into words for the compiler ({why}): give a list of them",
    "parameter words why",
)
unknown_kind = Message(
    ValueError,
    "{path!r} is no file of kernels by its name: .xclbin and .awsxclbin are images, .cpp, .cc and .cxx "
    "are HLS C++, .c is C, .cl is OpenCL C (ft.fpga.kernel)",
)
no_kernel_named = Message(ValueError, "{origin} has no kernel {name!r}; it has {names}", "origin name names")
name_one = Message(ValueError, "{origin} has {count} kernels, so name one of them: {names}", "origin count names")
no_kernels = Message(
    ValueError,
    '{origin} has no kernel: of HLS C++ that is a function declared extern "C" which returns void, '
    "in a .c file one that is not static, of OpenCL C one with __kernel",
)
no_cpp_here = Message(
    RuntimeError,
    "{device} takes OpenCL C (ft.fpga.opencl_kernel), and {origin} is HLS C++: run with "
    "FTENSOR_DEVICE=csim, or by `ftensor emulate -- python ...`",
)
no_image_here = Message(
    RuntimeError,
    "{device} takes OpenCL C (ft.fpga.opencl_kernel), and {origin} is an image: run on a board, by "
    "`ftensor emulate -- python ...`, or with FTENSOR_DEVICE=csim",
)
no_opencl_here = Message(
    RuntimeError,
    "{device} takes HLS C++ (ft.fpga.source) and images (ft.fpga.kernel), no OpenCL C: run on an "
    "OpenCL device, such as FTENSOR_DEVICE=intel-cpu or pocl",
)
needs_vpp = Message(
    RuntimeError,
    "{device} is a board, and v++ takes hours: build {origin} ahead (v++ -c -k NAME, then v++ -l) "
    "and give ft.fpga.kernel the xclbin",
)
not_compiled = Message(RuntimeError, "{compiler} refuses {origin}:\n{log}")
no_header = Message(
    RuntimeError,
    "{compiler} refuses {origin}: {header} is in none of the folders that it looks through. Name the folder by "
    "flags=['-I<folder>'], or, of a header of Vitis that has no stand-in, Vitis' own by "
    "FTENSOR_VITIS_INCLUDE=<folder of Vitis_HLS>/include; `ftensor headers --install` fetches Xilinx's ap_*.h\n{log}",
    "compiler origin header log",
)
bad_parameter = Message(
    ValueError,
    "{kernel}: parameter {name!r} is {c!r}, which no call can pass: pointers to global memory and "
    "C's numbers are served, streams in images for boards",
)
free_running = Message(ValueError, "{kernel} runs by itself (ap_ctrl_none), so it can't be launched")
no_debug_information = Message(
    ImageError,
    "{path} has no debug information (DWARF), so nobody knows what its kernels take: compile it "
    "with -g, or describe them by --description",
)
arguments_differ = Message(
    ImageError,
    "kernel {kernel!r} takes ({there}) by its debug information, and its description says ({said})",
    "kernel said there",
)

# Calling one

argument_count = Message(
    TypeError, "{kernel} takes {wanted} arguments, not {count}: {shown}", "kernel wanted count shown"
)
not_a_tensor = Message(TypeError, "{kernel}: argument {name!r} ({c}) takes a tensor, not {value!k}{way}")
not_a_number = Message(
    TypeError,
    "{kernel}: argument {name!r} ({c}) takes {wanted}, not {value!r} ({value!k}){way}",
    "kernel name c wanted value way",
)
number_range = Message(
    ValueError, "{kernel}: argument {name!r} ({c}) can't hold {value!r}: its range is {low} to {high}"
)
wrong_dtype = Message(
    TypeError,
    "{kernel}: argument {name!r} ({c}) takes a tensor of {wanted}, not of {dtype}: "
    "convert it, {name}.to({wanted}), or see its bytes otherwise, {name}.view({wanted})",
    "kernel name c wanted dtype",
)
complex_for_real = Message(
    TypeError,
    "{kernel}: argument {name!r} ({c}) takes a tensor of {wanted}, not of {dtype}: see the pairs that its "
    "numbers are, {name}.view({wanted}), which shares its memory ({name}.to({wanted}) drops the imaginary parts)",
    "kernel name c wanted dtype",
)
wrong_device = Message(
    RuntimeError,
    "{kernel} is on {wanted}, and argument {name!r} on {device}: pass {name}.to({wanted!r})",
    "kernel wanted name device",
)
not_contiguous = Message(
    ValueError,
    "{kernel}: argument {name!r} must be contiguous, and has shape {shape!t} with strides "
    "{strides!t}: pass {name}.contiguous()",
)
part_of_element = Message(
    ValueError,
    "{kernel}: argument {name!r} ({c}) takes whole elements of {size} bytes, and the tensor has {nbytes} bytes",
)
misplaced = Message(
    ValueError,
    "{kernel}: argument {name!r} begins {start} bytes into its memory, and {device} lets a "
    "kernel's buffers begin {where}: pass {name}.clone(), and copy back what the kernel writes",
    "kernel name start device where",
)
begins_later = Message(
    ValueError,
    "{kernel} gets a tensor that begins within its memory, and on this device buffers begin with it: pass its .clone()",
)
read_only = Message(
    RuntimeError,
    "{kernel} may write argument {name!r} ({c}), whose memory is read-only: pass {name}.clone(), "
    "or declare the parameter const",
)
needs_units = Message(
    TypeError, "the text of {kernel} asks for work-items, so say how many there are: {kernel}.run(..., units=n)"
)
bad_sizes = Message(ValueError, "{kernel}: {name}={sizes!r} is not a positive integer, or a tuple of up to three")
too_many = Message(
    ValueError, "{kernel}: {name}={sizes!r} are more than the {most} that a launch can have", "kernel name sizes most"
)
no_units = Message(
    ValueError,
    "{kernel} does not end with the parameters int ft_unit, int ft_units, so units={units!t} can't "
    "share its work: launches on several streams take a compute unit each",
)
bad_group = Message(
    ValueError,
    "{kernel}: group={group!t} must divide units={grid!t} in each dim and have at most {most} work-items in all",
)
no_groups = Message(ValueError, "{kernel} is HLS C++, which knows no groups of work-items: leave out group={group!t}")
no_room_for_locals = Message(
    ValueError, "{kernel} asks for {asked} bytes of a work-group's memory (__local), and {device} has {there}"
)
refused = Message(RuntimeError, "{device} refuses to launch {kernel} with {units}: {why}")

# Binding one

no_op_name = Message(
    ValueError,
    '{name!r} names no op: write "library::op" for one of torch.library\'s, or "ftensor::op" for '
    "an elementwise one of ftensor's",
)
no_row = Message(ValueError, "ftensor has no elementwise op {name!r} whose place a kernel could take{near}")
not_a_result = Message(
    TypeError,
    "the kernel registered for {name} returned {value!k}: it gives a tensor, or NotImplemented "
    "where it doesn't serve the arguments",
)
