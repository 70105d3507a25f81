"""Answers to pixels_inside."""

from grader.authoring.specimen import Right, Wrong

SCALED = "self.network(pixels / 255)"

SPECIMENS = [
    Wrong(
        "uint8 for the network",
        edits=[(SCALED, "self.network(pixels)")],
        rung="job",
        check="test_worked_example",
        says="the network gets uint8",
    ),
    Wrong(
        "cast, not scaled",
        edits=[("pixels / 255", "pixels.float()")],
        rung="job",
        check="test_worked_example",
        says="not scaled",
    ),
    Wrong(
        "rounded down",
        edits=[("pixels / 255", "(pixels // 255).float()")],
        rung="job",
        check="test_worked_example",
        says="rounds down",
    ),
    Wrong(
        "in place",
        edits=[("return " + SCALED, "pixels /= 255\n        return self.network(pixels)")],
        rung="job",
        check="test_worked_example",
        says="write `pixels / 255`",
    ),
    Wrong(
        "no super",
        edits=[("        super().__init__()\n", "")],
        rung="job",
        check="test_worked_example",
        says="begins with super",
    ),
    Wrong("256", edits=[("255", "256")], rung="job", check="test_worked_example", says="256"),
    Right("cast first", edits=[("pixels / 255", "pixels.float() * (1 / 255)")]),
    Right(
        "a Sequential with a layer of its own",
        edits=[
            (
                "class PixelsInside",
                "class Scale(nn.Module):\n    def forward(self, x: Tensor) -> Tensor:\n        return x.float().div(255.0)\n\n\nclass PixelsInside",
            ),
            ("self.network = network", "self.layers = nn.Sequential(Scale(), network)"),
            (SCALED, "self.layers(pixels)"),
        ],
    ),
]
