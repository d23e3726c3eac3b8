"""What experiments share: the look, the controls, the words."""
