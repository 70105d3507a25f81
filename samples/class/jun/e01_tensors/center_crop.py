def middle(size, wanted):
    if wanted > size or wanted <= 0:
        raise ValueError(f"{wanted} of {size}")
    behind = -(-(size - wanted) // 2)
    return slice(size - wanted - behind, size - behind)

def center_crop(images, height, width):
    if len(images.shape) < 2:
        raise ValueError("an image has two dims")
    return images[(..., middle(images.shape[-2], height), middle(images.shape[-1], width))]
