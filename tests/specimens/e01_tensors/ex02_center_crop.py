"""Answers to center_crop that people write."""

from grader.authoring.specimen import Right, Works, Wrong

FITS = """    if not (1 <= height <= rows and 1 <= width <= columns):
        raise ValueError(f"a crop of ({height}, {width}) does not fit into images of ({rows}, {columns})")
"""
CROP = "images[..., top : top + height, left : left + width]"
OFFSETS = "top, left = (rows - height) // 2, (columns - width) // 2"

SPECIMENS = [
    Wrong(
        "slices from both ends: nothing is left where nothing is to be cut",
        edits=[(CROP, "images[..., top : -(rows - height - top), left : -(columns - width - left)]")],
        check="test_full_size",
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "cuts the same from both ends: an odd number to cut gives one too many",
        edits=[(CROP, "images[..., top : rows - top, left : columns - left]")],
        check="test_odd",
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "rounds the offset as torchvision does: sometimes the top loses one more",
        edits=[
            (OFFSETS, "top, left = int(round((rows - height) / 2.0)), int(round((columns - width) / 2.0))")
        ],
        check="test_odd",
        says="shifted by -1 along dim 2",
        rung="job",
    ),
    Wrong(
        "half of each size: (7 - 2) / 2 is not 7 // 2 - 2 // 2",
        edits=[(OFFSETS, "top, left = rows // 2 - height // 2, columns // 2 - width // 2")],
        check="test_odd",
        says="wrong values",
        rung="job",
    ),
    Wrong(
        "the top left corner",
        edits=[(OFFSETS, "top, left = 0, 0")],
        check="test_values",
        says="top left corner",
        rung="job",
    ),
    Wrong(
        "height and width the other way round",
        edits=[(CROP, "images[..., left : left + width, top : top + height]")],
        check="test_values",
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "four dims only",
        edits=[(CROP, "images[:, :, top : top + height, left : left + width]")],
        check="test_leading_dims",
        says="IndexError",
        rung="job",
    ),
    Wrong(
        "drops a batch of one",
        edits=[(CROP, CROP + ".squeeze(0)")],
        check="test_leading_dims",
        says="wrong shape",
        rung="job",
    ),
    Wrong(
        "detaches the crop",
        edits=[(CROP, CROP + ".detach()")],
        check="test_gradients",
        says="no gradient",
        rung="job",
    ),
    Wrong(
        "contiguous, ready for the network",
        edits=[(CROP, CROP + ".contiguous()")],
        check="test_view",
        says="copies",
    ),
    Wrong(
        "views the leading dims as one: that takes images side by side, and some pixels",
        edits=[
            (
                CROP,
                "images.view(-1, rows, columns)[:, top : top + height, left : left + width]"
                ".unflatten(0, images.shape[:-2] or (1,)).view(*images.shape[:-2], height, width)",
            )
        ],
        check="test_strides",
        says="view size is not compatible",
    ),
    Wrong(
        "floats for the network",
        edits=[(CROP, CROP + ".float()")],
        check="test_dtype_is_kept",
        says="float32",
    ),
    Wrong(
        "one image at a time, and there may be none",
        edits=[
            (
                CROP,
                "images[..., top : top + height, left : left + width] if images.ndim < 4 else "
                "__import__('torch').stack([center_crop(x, height, width) for x in images])",
            )
        ],
        check="test_empty",
        says="non-empty",
    ),
    Wrong(
        "looks at the upper limit only",
        edits=[("1 <= height <= rows and 1 <= width <= columns", "height <= rows and width <= columns")],
        check="test_errors",
        says="no error",
    ),
    Wrong(
        "narrow's own errors",
        edits=[
            (FITS, ""),
            (CROP, "images.narrow(-2, top, height).narrow(-1, left, width)"),
            ('raise ValueError(f"an image has', 'raise IndexError(f"an image has'),
        ],
        check="test_no_image",
        says="IndexError",
    ),
    Works(
        "the start of each slice by whole division, its end by adding the size",
        code="""
def center_crop(images, height, width):
    h, w = images.shape[-2], images.shape[-1]
    top = (h - height) // 2
    left = (w - width) // 2
    return images[..., top:top + height, left:left + width]
""",
    ),
    Works(
        "a number to cut on each side, and a copy",
        code="""
def center_crop(images, height, width):
    rows, columns = images.size(-2), images.size(-1)
    top, left = int((rows - height) / 2), int((columns - width) / 2)
    bottom, right = rows - height - top, columns - width - left
    return images[..., top:rows - bottom, left:columns - right].clone()
""",
    ),
    Right(
        "narrow, twice",
        code="""
def center_crop(images, height, width):
    if images.dim() < 2:
        raise ValueError("no image")
    for dim, size in ((-2, height), (-1, width)):
        whole = images.size(dim)
        if size < 1 or size > whole:
            raise ValueError(f"cannot crop {whole} to {size}")
        images = images.narrow(dim, (whole - size) // 2, size)
    return images
""",
    ),
    Right(
        "slice objects from the far end",
        code="""
def middle(size, wanted):
    if wanted > size or wanted <= 0:
        raise ValueError(f"{wanted} of {size}")
    behind = -(-(size - wanted) // 2)
    return slice(size - wanted - behind, size - behind)

def center_crop(images, height, width):
    if len(images.shape) < 2:
        raise ValueError("an image has two dims")
    return images[(..., middle(images.shape[-2], height), middle(images.shape[-1], width))]
""",
    ),
]
