"""The learner's faces: watch, the verbs, Jupyter."""
