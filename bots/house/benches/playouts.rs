//! Playouts a second of `uct`, and how they grow with time.

fn main() {}
