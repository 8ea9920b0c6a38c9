"""vmap: tensors that represent a batch, and the rules for operators, passes and custom Functions on them."""
