"""Messages about image files and users' own kernels."""

from __future__ import annotations

from ..terminal import counted, guess
from .message import Message, names_called_op


class ImageError(ValueError):
    """A file is not an image, or is damaged."""


malformed = Message(ImageError, "not a usable xclbin: {what}; copy or build the file again")


def too_short(item: str, need: int, available: int) -> ImageError:
    """Error for a part that ends early."""
    return malformed(f"{item} needs {need} bytes, but only {available} are there")


def bad_section(section: str, problem: str) -> ImageError:
    """Error for a section with invalid content."""
    return malformed(f"in its section {section}, {problem}")


def no_section(section: str) -> ImageError:
    """Error for a file without a section that every image of kernels has."""
    return malformed(f"it has no section {section}, without which XRT loads no kernels")


bad_description = Message(ImageError, "the description of the kernels can't be used: {what}")
bad_config = Message(ImageError, "the configuration for v++ can't be used: {what}")


def unreadable(path: object, reason: object) -> ImageError:
    """Error for a file that the system can't read."""
    return ImageError(f"can't read {str(path)!r}: {reason}")


# Packaging an image for a board

needs_no_package = Message(
    ImageError, "an {board} takes the xclbin file itself: FTENSOR_IMAGE=FILE python program.py. `package` is for a Kria"
)
bad_package_name = Message(
    ImageError, "{name!r} can't name an application: take letters, digits, '.', '_' and '-'; --name gives another"
)
no_bitstream = Message(
    ImageError, "this image can't be packaged: {why}. Build it with `ftensor build --target hw` for your platform"
)
bad_overlay = Message(ImageError, "the overlay can't be used: {why}")

# Loading an image

bad_manifest = Message(ImageError, "its manifest can't be used: {what}; copy or build the image again")
changed_manifest = Message(
    ImageError,
    "its manifest was changed since it was written: what it says has another digest than the one "
    "it names; build the image again (ftensor build with the same --out links anew)",
)
manifest_version = Message(
    ImageError,
    "its manifest is of version {version!r}, this ftensor reads version {known}: build the image "
    "again, or use the ftensor that built it",
)
in_file = Message(ImageError, "{path}: {error}")
named_in = Message(ImageError, "{error} ({variable} in the environment names it)", "variable error")


def no_image_there(path: object) -> ImageError:
    """Error for a folder without a built image."""
    return ImageError(f"the folder {str(path)!r} holds no manifest.json, so no image was built there")


no_manifest = Message(
    ImageError,
    "it holds no ftensor manifest and no manifest.json is beside it, so the op of each "
    "kernel is unknown; build it by `ftensor build`. `ftensor image info {path}` shows it",
)
manifest_of_another = Message(ImageError, "{manifest} belongs to {other!r}, not to {name!r}; put the right one there")
other_uuid = Message(
    ImageError,
    "{path} has the UUID {file}, but its manifest is of the image {manifest}; take both from one build",
    "path manifest file",
)
damaged = Message(
    ImageError,
    "{path} was changed since it was built: its content has another digest than its UUID; copy or build it again",
)


def kernel_missing(path: object, kernel: str, kernels: list[str]) -> ImageError:
    """Error for a kernel of the manifest that the file lacks."""
    kernel_list = ", ".join(kernels) or "no kernel"
    return ImageError(f"{path} has no kernel {kernel!r}, which its manifest names; it has {kernel_list}")


def units_missing(path: object, kernel: str, expected: int, found: int) -> ImageError:
    """Error for fewer compute units than the manifest lists."""
    return ImageError(
        f"{path} has {counted(found, 'compute unit')} of {kernel!r}, its manifest promises "
        f"{expected}; was it linked with another configuration?"
    )


def argument_count(path: object, kernel: str, expected: int, found: int) -> ImageError:
    """Error for a kernel with another number of arguments than the manifest lists."""
    return ImageError(
        f"{path}: kernel {kernel!r} takes {counted(found, 'argument')}, its manifest says "
        f"{expected}; build the image again"
    )


argument_differs = Message(
    ImageError,
    "{path}: argument {k} of kernel {kernel!r} is {there}, its manifest says {wanted}; build the image again",
    "path kernel k wanted there",
)
launch_differs = Message(
    ImageError,
    "{path}: the manifest passes {call!r} for {entry}, but such a launch has {count} arguments of "
    "other types; build the image again with this version of ftensor",
    "path entry call count",
)
needs_other_kernels = Message(
    ImageError,
    "the kernel {name} of {path} exchanges the stream {stream} with other kernels, which must run at the same time, "
    "and the C simulation runs one after the other. Run the program by `ftensor emulate --image {path} -- python ...`",
    "name path stream",
)
needs_a_board = Message(
    ImageError,
    "{path} is an image for the board {platform!r}; software emulation runs images made by "
    "`ftensor build --target csim`",
)
needs_emulation = Message(
    ImageError,
    "{path} was made for emulation and can't be loaded into a board; run the program by `ftensor "
    "emulate -- python ...`, or build an image for the board's platform",
)
other_platform = Message(
    ImageError,
    "{path} was built for the platform {image!r}, but the device is {device!r}; build it with "
    "--platform for this board",
)
not_loaded = Message(
    ImageError,
    "the driver can't load {path}: {why}; `ftensor image info` shows what the file is for, and "
    "another process may be using the board",
)
launch_interrupted = Message(
    RuntimeError,
    "this finalizer interrupts a launch of {kernel}, and its channels serve one launch at a time; "
    "record the event in the finalizer, and compute later",
)
no_image = Message(
    ImageError,
    "{device} has no image, so it can compute nothing yet: set FTENSOR_IMAGE to an image, or call "
    "ft.load_image(path). `ftensor build` makes images",
)
not_built_on_request = Message(ImageError, "`ftensor emulate` could not build the kernel {entry}: {why}")
asked_for_at = Message(ImageError, "{error}\nIt was asked for at {line}")
read_amid_launches = Message(
    RuntimeError,
    "this finalizer interrupts launches that may write the tensor that it reads; record the event "
    "in the finalizer, and read later",
)
compiles_nothing = Message(
    ImageError,
    "{device} can't compile the kernel {entry}: a board runs what its images hold. `ftensor "
    "build` makes images, FTENSOR_IMAGE and ft.load_image(path) load them",
)
no_images_here = Message(
    ImageError,
    "{device} compiles its kernels when they are needed and takes no image; images are for "
    "boards, for `ftensor emulate -- python ...`, and for FTENSOR_DEVICE=csim",
)
two_outputs_one_memory = Message(
    ImageError,
    "kernel {kernel!r} writes its results through ports to different memory banks, so they can't "
    "lie in one tensor's memory; give each its own",
)
of_another_maker = Message(ImageError, "{path} was built with --target {target} and can't run on {device}")
of_another_target = Message(
    ImageError,
    "{path} was built with --target {target}; this device takes images that `ftensor build --target {wanted}` makes",
)


# Making one

no_such_file = Message(FileNotFoundError, "there is no file {path!r} with kernels")
image_path = Message(
    TypeError, "load_image() takes the path of an image, a str or a pathlib.Path, not {path!k} {path!r}"
)
no_image_path = Message(
    FileNotFoundError, "load_image(): there is no file or folder {path!r}; `ftensor build` makes images"
)
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
    "{kernel}: parameter {name!r} is {c!r}, which no call can pass; calls pass pointers to "
    "global memory, C's numbers and, for images of boards, streams",
)
free_running = Message(ValueError, "{kernel} runs by itself (ap_ctrl_none), so it can't be launched")
no_debug_information = Message(
    ImageError,
    "{path} has no debug information (DWARF), so the arguments of its kernels are unknown: compile it "
    "with -g, or describe them by --description",
)
arguments_differ = Message(
    ImageError,
    "kernel {kernel!r} takes ({there}) by its debug information, and its description says ({said})",
    "kernel said there",
)

# Calling one

own_argument_count = Message(
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
registers_no_name = Message(
    TypeError, '{function}() takes the name of an op, such as "ftensor::neg", not {name!k} {name!r}'
)
registers_no_function = Message(
    TypeError,
    "the kernel registered for {name} must be a function, not {function!k}; write @ft.register_kernel above a def",
)
not_registered_here = Message(
    ValueError, '{name!r} is no op of ftensor: unregister_kernel() takes the name of an elementwise one, "ftensor::neg"'
)
no_row = Message(ValueError, "ftensor has no elementwise op {name!r} that a kernel could replace{near}")
not_a_result = Message(
    TypeError,
    "the kernel registered for {name} returned {value!k}: it gives a tensor, or NotImplemented "
    "where it doesn't serve the arguments",
)
not_text = Message(TypeError, "{function}(): `{argument}` must be a str, not {value!r} ({value!k})")
not_name = Message(ValueError, "{function}(): {name!r} can't name a kernel: use letters, digits and '_'")
taken = Message(ValueError, "{function}(): there is an op {name!r} already; give the kernel another name")
not_parameters = Message(
    ValueError,
    "{function}(): {text!r} is no list of parameters in `{argument}`: write types and names, such as 'T x, float32 y'",
)
raw = Message(
    ValueError,
    "{function}(): `{name}` is raw; a kernel sees only its own element: use ft.fpga.opencl_kernel for other accesses",
)
too_many_operands = Message(ValueError, "{function}(): {count} inputs, but a kernel has at most {most}")
no_value = Message(ValueError, "{function}(): a kernel needs an input that is not bool")
named_twice = Message(ValueError, "{function}(): {name!r} names two parameters")
reserved = Message(ValueError, "{function}(): {name!r} is a word of the expression and can't name a parameter")
no_such_type = Message(ValueError, "{function}(): {word!r} is no type{near}")
unknown_placeholder = Message(
    ValueError, "{function}(): the type {word} of {name!r} is not the type of an input, so a call can't determine it"
)


@names_called_op
def in_text(function: str, argument: str, text: str, at: int, problem: str) -> ValueError:
    """Error for a place in the text of a kernel. The message shows the line and marks the place."""
    line = text.count("\n", 0, at) + 1
    begin = text.rfind("\n", 0, at) + 1
    shown = text[begin:].split("\n", 1)[0]
    column = at - begin
    first = max(0, column - 40)
    shown, mark = shown[first : first + 80], " " * (column - first) + "^"
    return ValueError(
        f"{function}(): {problem}, at line {line}, column {column + 1} of `{argument}`:\n    {shown}\n    {mark}"
    )


def unknown_name(name: str, known: list[str]) -> str:
    """Returns the problem of a name that a text does not define."""
    return f"{name!r} is not defined{guess(name, known)}"


# Calls

call_count = Message(TypeError, "{kernel} takes {wanted} ({words}), not {given}")
not_an_operand = Message(TypeError, "{kernel}: `{name}` must be a tensor or a number, not {value!k}")
needs_tensor = Message(TypeError, "{kernel} needs a tensor among its arguments")
mismatched = Message(
    TypeError,
    "{kernel}: `{name}` is {found}, but {word} is {known} by `{first}`: convert one of them with .to()",
    "kernel name found word known first",
)
other_dtype = Message(TypeError, "{kernel}: `{name}` must be {wanted}, not {found}: convert it with .to()")
number_kind = Message(TypeError, "{kernel}: `{name}` is {value!r}, which {dtype} can't hold", "kernel name value dtype")
refused_bool = Message(
    TypeError, "{kernel} does not compute in bool: declare a condition as 'bool {name}', or convert it with .to()"
)
no_expression = Message(TypeError, "{kernel} does not compute in {dtype}: {why}")
read_output = Message(
    TypeError, "{kernel}: `{name}` is {found}, but its value is used in an expression of {compute}: declare a variable"
)

# Overlays
no_overlay_kernel = Message(AttributeError, "{path} has no kernel or compute unit {name!r}; it has {names!c}")
registers_unset = Message(
    ValueError, "{kernel} can't start: its registers {names!c} are not set; set them or pass all arguments"
)
no_register = Message(AttributeError, "{kernel} has no register {name!r}; it has {names!c}")
control_bit = Message(AttributeError, "{kernel}: only AP_START can be set in the control register, not {name}")


def no_register_at(kernel: str, offset: int, offsets: dict[str, int]) -> ValueError:
    """Error for an offset at which no register begins."""
    there = ", ".join(f"{name} at {place:#x}" for name, place in offsets.items())
    return ValueError(f"{kernel} has no register at {offset:#x}; it has CTRL at 0x0, {there}")


no_sensors = Message(
    RuntimeError,
    "{device} has no sensors that ftensor reads; boards on XRT have some, the software device imitates them",
)
sensors_failed = Message(
    RuntimeError, "{tool} did not report the sensors of device {index}: {why}; run `xrt-smi examine` to see why"
)
