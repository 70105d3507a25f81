"""What an error's own words tell of where it comes from, whatever the line looks like."""

import re

_WORDS = r"""
# Two kinds of numbers
mat1 and mat2 must have the same dtype
expected m1 and m2 to have the same dtype|dot : expected both vectors to have same dtype
    a product wants one dtype on both sides: `.float()` makes float32 of whole numbers and of float64
Found dtype (\w+) but expected (\w+)|expected scalar type \w+ but found (?:Double|Float)\b
    two dtypes meet: `.float()` makes float32 of whole numbers and of float64 (which NumPy makes)
could not infer output dtype.* Got: Bool
    bools have no mean: `.float()` makes numbers of them
could not infer output dtype.* Got: \w+|std and var only support floating point
    whole numbers have no mean or spread in torch: `.float()` before it
result type \w+ can't be cast to the desired output type (?:Long|Int|Bool|Byte|Short)
    the result has decimals, and this tensor holds none: make it a float tensor before, by `.float()`
[Oo]nly Tensors of floating point (?:and complex )?dtype can require gradients
    whole numbers have no gradient: `.float()`, or numbers with a point, such as 3.0
masked_fill_?\(\) received .*got \(Tensor, str
    the value is a number: `-torch.inf`, or `float("-inf")`
Subtraction, the `-` operator, with (?:a|two) bool tensor
    bools are not subtracted: `~mask` turns them around, `.int()` makes numbers of them
masked_fill_? only supports boolean masks
    a mask is True or False: compare (`mask == 0`), or `mask.bool()`
where expected condition to be a boolean tensor
    a condition is True or False: compare (`x > 0`), or `.bool()`
only implemented on integer and Boolean-type tensors
    `~` turns bools around: compare first (`x == 0`), or `.bool()`
"bitwise_\w+" not implemented for '\w+'
    `&` and `|` take bools: compare first, each side in brackets, as in `(x > 0) & (x < 5)`
tensors used as indices must be long
    an index holds whole numbers, or True and False: `.long()`, or `.bool()` for a mask
Expected dtype int.* for index|one_hot is only applicable to index
indices' to have one of the following scalar types
    indices are whole numbers: `.long()` makes them of decimals
expected target dtype to be Long|expected scalar type Long but found
    classes are whole numbers: `.long()` makes them of decimals
target with class probabilities, got Long|multi-target not supported
    cross_entropy wants one class number for each row: targets of shape (rows,), or probabilities as
    floats
# Shapes
size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)
    sizes are compared from the last dim on, and must be equal or 1: `unsqueeze`, or `keepdim=True`,
    makes a dim of size 1
view size is not compatible
    after a transpose or permute the numbers lie in another order in memory: `.reshape` copies where it
    must, `.view` never does
Dimension out of range \(expected to be in range of \[-(\d+), \d+\], but got (-?\d+)\)
    {1} dims are counted from 0 (or from -1, the last): dim {2} is not there
index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)
    {3} places are counted from 0 (or from -1, the last): place {1} is not there
too many indices for tensor of dimension (\d+)
    more numbers in `[…]` than the tensor has dims ({1})
step must be greater than zero
    torch has no negative steps: `x.flip(0)` turns dim 0 around
length of the desired ordering of dimensions .*input\.dim\(\) = (\d+) .*len\(dims\) = (\d+)
    permute names every dim once: the tensor has {1}, and {2} are named
transpose\(\) takes 2 positional arguments but \d
    transpose exchanges two dims; `permute` puts all in an order
t\(\) expects a tensor with <= 2 dimensions
    `t` is for matrices: `.mT` exchanges the last two dims
Tensors must have same number of dimensions
    `cat` adds no dim, so all need the same number of them: `unsqueeze` adds one, `stack` puts equal
    ones under a new dim
stack expects each tensor to be equal size
    only tensors of one size can be stacked: `torch.cat` joins others, pad_sequence makes them equal
Sizes of tensors must match except in dimension (\d+)
    `cat` along dim {1} wants all other sizes equal: is another dim meant?
must be a 3D tensor
    bmm takes two batches of matrices; `@` takes any number of dims
1D tensors expected, but got|mat\d? must be a matrix
    this product is for one kind of tensor: `@` takes vectors, matrices and batches
The expanded size of the tensor \(\d+\) must match the existing size \((\d+)\) .*dimension (\d+)
    only a dim of size 1 can be expanded, and dim {2} has size {1}
Index tensor must have the same number of dimensions as input
    gather wants as many dims in the index as in the input: `index.unsqueeze(1)`, and `.squeeze(1)`
    behind it
Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)
    {1} rows of scores meet {2} targets: one class number for each row is wanted
Target size .* must be the same as input size
    this loss compares place by place: both need one shape (`.squeeze(1)`, `.unsqueeze(1)`)
Target -\d+ is out of bounds
    padding is no class: `ignore_index=` leaves it out
Target \d+ is out of bounds
    labels go from 0 to the number of classes - 1, and logits have a number for each class
index out of range in self
    a number is looked up that the table has no row for: rows go from 0 to num_embeddings - 1
# One number, or many
grad can be implicitly created only for scalar outputs
    backward starts from one number: `.sum()` or `.mean()` before it, or a weight for each, `gradient=`
Boolean value of Tensor with more than one value
    one True or False is wanted, and this tensor holds many: `.all()`, `.any()`; `torch.where` picks
a Tensor with \d+ elements cannot be converted to Scalar
    `.item()` is for a tensor of one number: `.tolist()` gives all
# Recording
Can't call numpy\(\) on Tensor that requires grad
    NumPy records no gradients: stay in torch, or `.detach()` first where none is wanted
does not require grad and does not have a grad_fn
    nothing that this is computed from requires a gradient, or the graph is cut on the way
Trying to backward through the graph a second time
    a tensor from an earlier call or step still has its graph: `.detach()` what is kept
a leaf Variable that requires grad is being used in an in-place operation
    a parameter is changed while autograd records: do that in `with torch.no_grad():`
One of the differentiated Tensors does not require grad
    x does not require a gradient: `x.requires_grad_()` before anything is computed from it
can't retain_grad on Tensor that has requires_grad=False
    nothing is recorded here: `x.requires_grad_()` before this is computed from x
can't optimize a non-leaf Tensor
    an optimizer takes the tensors that learn themselves, and nothing that was computed from them
optimizer got an empty parameter list
    the model knows of no parameters: layers are put on self, in `nn.ModuleList` if there are many
refers to a single memory location
    an expanded tensor is written to, whose elements share their memory: `.clone()` it before
returned an incorrect number of gradients
    backward returns one gradient for each argument of forward, and None for what needs none
no autograd formula was registered
    the operator has no gradient yet: register_autograd says how it is computed
# Devices and dtypes by name
(?:Invalid device string|at start of device string): '?((?:u?int|float|bfloat|complex)\d+|bool|long)\b
    a text is taken for a device: a dtype comes without quotes, `torch.{1}`
Expected all tensors to be on the same device
    a tensor is made on the CPU, or moved there: device=x.device
at start of device string: (?:gpu|GPU)
    an NVIDIA GPU is called "cuda"
at start of device string: (\S+)
    there is no device called "{1}": "cpu", "cuda", "mps"
Torch not compiled with CUDA|Found no NVIDIA driver
    there is no GPU here: take the device from a tensor that is given, `x.device`
argument 'dtype' must be torch\.dtype, not str|got \(dtype=str
    a dtype is no text: `torch.float32`, without quotes
meta tensor
    a tensor on "meta" has a shape and no numbers: `.item()`, `.cpu()` and an `if` on it fail
the unspecified dimension size -1 can be any value
    the tensor is empty, so that -1 could stand for any size: write the size out
# Arguments
upper bound and lower bound inconsistent with step sign
    arange counts from its first number to its second, and the step leads away from there
einsum\(\): must specify the equation string and at least one operand
    einsum takes the letters, then the tensors: `torch.einsum("ij->ji", x)`
expected input\[.*\] to have (\d+) channels, but got (\d+)
    the layer is made for {1} channels, and {2} come in: `nn.Conv2d` takes those that come in first
sampler option is mutually exclusive with shuffle
    a sampler and shuffle are both given; by its place the fourth argument is the sampler: name them
got multiple values for argument '(\w+)'
    `{1}` is given twice: by its place among the arguments, and by its name
argument 'size' \(position 1\) must be tuple of ints, not Tensor
    it takes sizes, and no tensor: `x.shape`, or `torch.zeros_like(x)` and its like
Number of dimensions of repeat dims can not be smaller
    `repeat` wants a count for each dim; `repeat_interleave(n, dim=0)` repeats each row
register_buffer\(\) missing 1 required positional argument: 'tensor'
    a buffer has a name, which comes first: `self.register_buffer("mean", mean)`
Tensor\.index\(\) missing
    `index` is for lists: `x[ids]` picks rows by their numbers
^fill\(\) received an invalid
    `torch.full((rows, columns), value)` makes a tensor of one number
append\(\) takes exactly one argument
    `append` adds one thing: `extend([a, b])` adds several
seed\(\) takes 0 positional
    `torch.manual_seed(seed)` sets the seed; `torch.seed()` draws a new one
descriptor '(\w+)' for '(?:torch\._C\.)?([\w.]+)' objects doesn't apply
    `{2}` is a class: `{2}().{1}(…)` calls it on an object
gradcheck expects at least one input tensor to require gradient
    gradcheck wants `x.double().requires_grad_()`: something to compute a gradient for
# Modules
before Module\.__init__\(\) call
    `super().__init__()` is missing, or comes too late: it is the first line of `__init__`
descriptor '__init__' of 'super' object needs
    `super` is called, too: `super().__init__()`
Module \[ModuleList\] is missing
    nn.ModuleList is a list, and runs nothing by itself: `for layer in layers: x = layer(x)`
missing the required "forward" function
    the module has no method `forward`: is it there, spelled so, and indented under the class?
cannot assign '[\w.]*Tensor' as parameter '(\w+)'
    `{1}` is a parameter: `nn.Parameter(…)` makes one, `.copy_(…)` under `torch.no_grad()` fills it
Expected state_dict to be dict-like
    load_state_dict takes what `state_dict()` returns
torch\.nn\.modules\.\w+\.(\w+) is not a Module subclass
    `nn.{1}` is a class: `nn.{1}()` makes a layer
_VariableFunctionsClass\.(\w+) is not a Module subclass|^function is not a Module subclass
    a function is no layer: `nn.Sequential` takes layers, such as `nn.ReLU()`
(list|tuple|generator) is not a Module subclass
    layers are given one by one: `nn.Sequential(*layers)`
ModuleList\.extend should be called with an iterable
    nn.ModuleList takes a list: `nn.ModuleList([…])`
dropout probability has to be between 0 and 1
    the probability of dropout is a number from 0 to 1
Expected more than 1 value per channel when training
    a batch norm is in training mode, where one row has no variance: `model.eval()` comes before
Unable to call ExportedProgram directly
    a program is not called itself: `program.module()` can be called
Profiler must be initialized
    the schedule never came to an active step: is profiler.step() called behind each step?
# Data
'DataLoader' object is not (?:subscriptable|an iterator)
    a loader has no places: `for batch in loader:`, or `next(iter(loader))` for the first
default_collate: .*found <class 'NoneType'>
    the dataset gives None for an item: does `__getitem__` end with `return`?
Size mismatch between tensors
    the tensors of a TensorDataset have one row for each item: as many each
Sum of input lengths does not equal
    the lengths of random_split add up to those of the dataset, or are shares that add up to 1
randperm\(\) received .*got \(float
    random_split takes whole lengths that add up to that of the dataset, or shares such as `[0.8, 0.2]`
got \([^)]*generator=int
    `generator=` takes `torch.Generator().manual_seed(seed)`, not the seed itself
'generator' object (?:is not subscriptable|has no attribute)|object of type 'generator' has no len
    a generator gives its items one by one: `next(…)` takes the first, `list(…)` all
# Python
attribute '(\w+)' of 'torch\._C\.TensorBase' objects is not writable
    `{1}` cannot be set: a new tensor has another (`x.to(…)`, `x.reshape(…)`)
too many dimensions 'str'|invalid data type 'str'
    a tensor holds numbers, and no texts: give each text a number
^\[.*\] is not in list$
    `index` looks for one item, and this is a whole list: one after the other, in a loop
maximum recursion depth exceeded
    a function of yours calls itself, again and again
can't multiply sequence by non-int|can only concatenate list|operand type\(s\) for .*'list'
    a Python list does not calculate: `torch.tensor(…)` makes a tensor of its numbers
torch\.Size' object cannot be interpreted as an integer|to torch\.Size|operand type\(s\) for .*'torch\.Size'
    a shape is a tuple of sizes: take one, as `x.shape[0]`
can only concatenate tuple|operand type\(s\) for .*'tuple'
    a tuple does not calculate: take it apart before, as in `x, y = pair`
tuple indices must be integers or slices, not tuple
    this is a tuple, no tensor: take one of its items before you index it
new\(\): data must be a sequence|tensor\(\) takes 1 positional argument but
    `torch.tensor` makes a tensor of one thing, a list or a number: `torch.tensor([2, 3])`
expected Tensor as element \d+ in argument 0, but got (?:int|float|bool)
    numbers, where tensors are wanted: `torch.tensor([…])` makes a tensor of numbers
expected Tensor as element \d+ in argument 0, but got list
    lists, where tensors are wanted: `torch.tensor(…)` makes one of each
cannot access local variable '(\w+)'|local variable '(\w+)' referenced
    the name is set further down in this function, or only on a path that was not taken
"""
"""Patterns of errors, and indented below them what is told; `{1}` is what the first brackets found."""


def _read(table: str) -> list[tuple[re.Pattern[str], str]]:
    blocks = re.findall(r"^((?:[^# \n].*\n)+)((?:    .*\n)+)", table, re.M)
    return [
        (re.compile("|".join(patterns.splitlines()), re.S), re.sub(r"\s+", " ", words).strip())
        for patterns, words in blocks
    ]


_TABLE = _read(_WORDS)


def by_words(message: str) -> str:
    """What is told of this message; "" where it says enough, or nothing."""
    for pattern, told in _TABLE:
        if found := pattern.search(message):
            return told.format("", *found.groups(""))
    return ""
