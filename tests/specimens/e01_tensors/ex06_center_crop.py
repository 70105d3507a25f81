"""Answers to center_crop that people write."""

from grader.authoring.specimen import Right, Wrong

FITS = """    if not (1 <= height <= rows and 1 <= width <= columns):
        raise ValueError(f"a crop of ({height}, {width}) does not fit into images of ({rows}, {columns})")
"""
CROP = "images[..., top : top + height, left : left + width]"
OFFSETS = "top, left = (rows - height) // 2, (columns - width) // 2"

SPECIMENS = [
    Wrong(
        "a batch without images is made anew, without a graph",
        edits=[
            (
                OFFSETS,
                "if images.numel() == 0:\n        return images.new_empty((*images.shape[:-2], height, width))\n    "
                + OFFSETS,
            )
        ],
        check="test_empty_batch",
        says="no gradient",
    ),
    Wrong(
        "height and width cannot be given by name",
        edits=[
            ("height: int, width: int\n)", "height: int, width: int, /\n)"),
        ],
        check="test_the_middle",
        says="wrong signature",
    ),
    Wrong(
        "refuses images of one pixel",
        edits=[("<= columns):", "<= columns) or rows * columns == 1:")],
        check="test_full_size",
    ),
    Wrong(
        "slices from both ends: nothing is left where nothing is to be cut",
        edits=[(CROP, "images[..., top : rows - (rows - height - top), left:-(columns - width - left)]")],
        check="test_full_size",
        says="wrong shape",
    ),
    Wrong(
        "cuts the same from both ends: an odd number to cut gives one too many",
        edits=[(CROP, "images[..., top : rows - top, left : columns - left]")],
        check="test_the_middle",
        says="wrong shape",
    ),
    Wrong(
        "rounds the offset: sometimes the top loses one more",
        edits=[
            (OFFSETS, "top, left = int(round((rows - height) / 2.0)), int(round((columns - width) / 2.0))")
        ],
        check="test_the_middle",
        says="wrong values",
    ),
    Wrong(
        "half of each size: (7 - 2) / 2 is not 7 // 2 - 2 // 2",
        edits=[(OFFSETS, "top, left = rows // 2 - height // 2, columns // 2 - width // 2")],
        check="test_the_middle",
        says="wrong values",
    ),
    Wrong(
        "the top left corner",
        edits=[(OFFSETS, "top, left = 0, 0")],
        check="test_the_middle",
        says="wrong values",
    ),
    Wrong(
        "height and width the other way round",
        edits=[(CROP, "images[..., left : left + width, top : top + height]")],
        check="test_the_middle",
    ),
    Wrong(
        "two dims only: the leading ones are cropped",
        edits=[
            ("rows, columns = images.shape[-2:]", "rows, columns = images.shape[:2]"),
            (CROP, "images[top : top + height, left : left + width]"),
        ],
        check="test_leading_dims",
    ),
    Wrong(
        "four dims only",
        edits=[(CROP, "images[:, :, top : top + height, left : left + width]")],
        check="test_leading_dims",
        says="IndexError",
    ),
    Wrong(
        "as_strided from the start of the storage: images cut from a batch give pixels of others",
        edits=[
            (
                CROP,
                "images.as_strided((*images.shape[:-2], height, width), images.stride(), top * images.stride(-2) + left * images.stride(-1))",
            )
        ],
        check="test_strided",
        says="wrong values",
    ),
    Wrong(
        "hands an empty batch back before it looks at the size",
        edits=[
            (
                FITS,
                "    if images.numel() == 0:\n        return images[..., :height, :width]\n" + FITS,
            )
        ],
        check="test_images_without_pixels",
        says="no error",
    ),
    Wrong(
        "drops a batch of one",
        edits=[(CROP, CROP + ".squeeze(0)")],
        check="test_leading_dims",
        says="wrong shape",
    ),
    Wrong(
        "folds the leading dims with reshape: channels-last images are copied",
        edits=[
            (
                CROP,
                "images.reshape(-1, rows, columns)[:, top : top + height, left : left + width].view(*images.shape[:-2], height, width)",
            )
        ],
        check="test_strided",
        says="copies",
    ),
    Wrong(
        "one image at a time: an empty batch has none",
        edits=[
            (
                CROP,
                "(images[..., top : top + height, left : left + width] if images.ndim < 4 else __import__('torch').stack([center_crop(x, height, width) for x in images]))",
            )
        ],
        check="test_empty_batch",
        says="non-empty",
    ),
    Wrong(
        "contiguous, ready for the network",
        edits=[(CROP, CROP + ".contiguous()")],
        check="test_nothing_is_copied",
        says="copies pixels",
    ),
    Wrong(
        "a copy of the crop",
        edits=[(CROP, CROP + ".clone()")],
        check="test_writes_reach_the_images",
        says="wrong values",
    ),
    Wrong(
        "indices instead of slices: a copy",
        edits=[
            (CROP, "images[..., list(range(top, top + height)), :][..., list(range(left, left + width))]")
        ],
        check="test_strided",
        says="copies",
    ),
    Wrong(
        "contiguous images first",
        edits=[
            (
                "    rows, columns = images.shape[-2:]",
                "    images = images.contiguous()\n    rows, columns = images.shape[-2:]",
            )
        ],
        check="test_strided",
        says="copies",
    ),
    Wrong(
        "negative padding, which copies",
        edits=[
            (
                CROP,
                "__import__('torch').nn.functional.pad(images, (-left, left + width - columns, -top, top + height - rows))",
            )
        ],
        check="test_nothing_is_copied",
        says="copies pixels",
    ),
    Wrong(
        "a copy where gradients are wanted",
        edits=[(CROP, "(images * 1 if images.requires_grad else images)" + CROP.removeprefix("images"))],
        check="test_full_size",
        says="copies",
    ),
    Wrong(
        "detaches the crop",
        edits=[(CROP, CROP + ".detach()")],
        check="test_gradient",
        says="no gradient",
    ),
    Wrong(
        "a number for a crop of one pixel",
        edits=[
            (
                "    return images[..., top",
                "    if height == width == 1:\n        images = images.detach()\n    return images[..., top",
            )
        ],
        check="test_gradient",
    ),
    Wrong(
        "floats for the network",
        edits=[(CROP, CROP + ".float()")],
        check="test_dtype_is_kept",
        says="wrong dtype",
    ),
    Wrong(
        "crops the caller's tensor itself",
        edits=[
            (
                "    return " + CROP,
                "    images.data = images.data[..., top : top + height, left : left + width]\n    return images",
            )
        ],
        check="test_images_are_left_alone",
        says="changes its input",
    ),
    Wrong(
        "slices tell nothing: a crop that is too large comes back as large as it can",
        edits=[(FITS, "")],
        check="test_crop_that_does_not_fit",
        says="no error",
    ),
    Wrong(
        "looks at the upper limit only",
        edits=[("1 <= height <= rows and 1 <= width <= columns", "height <= rows and width <= columns")],
        check="test_crop_that_does_not_fit",
        says="no error",
    ),
    Wrong(
        "lets an empty crop pass",
        edits=[
            ("1 <= height <= rows and 1 <= width <= columns", "0 <= height <= rows and 0 <= width <= columns")
        ],
        check="test_crop_that_does_not_fit",
        says="no error",
    ),
    Wrong(
        "one fit is enough: or where and is meant",
        edits=[
            ("1 <= height <= rows and 1 <= width <= columns", "1 <= height <= rows or 1 <= width <= columns")
        ],
        check="test_crop_that_does_not_fit",
        says="no error",
    ),
    Wrong(
        "narrow's own RuntimeError for a crop that does not fit",
        edits=[(FITS, ""), (CROP, "images.narrow(-2, top, height).narrow(-1, left, width)")],
        check="test_crop_that_does_not_fit",
        says="RuntimeError",
    ),
    Wrong(
        "an assert for bad input",
        edits=[(FITS, "    assert 1 <= height <= rows and 1 <= width <= columns\n")],
        check="test_crop_that_does_not_fit",
        says="AssertionError",
    ),
    Wrong(
        "an IndexError for what is no image",
        edits=[('        raise ValueError(f"an image has', '        raise IndexError(f"an image has')],
        check="test_no_images",
        says="IndexError",
    ),
    Wrong(
        "a full size by contiguous, which copies what is strided",
        edits=[
            (
                "    top, left = ",
                "    if (height, width) == (rows, columns):\n        return images.contiguous()\n    top, left = ",
            )
        ],
        check="test_strided",
        says="copies",
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
        "as_strided with the offset of the first pixel",
        code="""
def center_crop(images, height, width):
    try:
        *leading, rows, columns = images.shape
    except ValueError:
        raise ValueError(f"needs two dims, got {images.ndim}") from None
    if height not in range(1, rows + 1) or width not in range(1, columns + 1):
        raise ValueError("the crop does not fit")
    down, right = images.stride()[-2:]
    offset = images.storage_offset() + (rows - height) // 2 * down + (columns - width) // 2 * right
    return images.as_strided((*leading, height, width), images.stride(), offset)
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
    Wrong(
        "copies integer images",
        edits=[
            (
                f"return {CROP}",
                f"crop = {CROP}\n    return crop if crop.is_floating_point() else crop.clone()",
            )
        ],
        check="test_dtype_is_kept",
        says="view",
    ),
]
