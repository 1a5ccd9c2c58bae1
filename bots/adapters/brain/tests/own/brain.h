#error "the harness has a brain.h of its own"
