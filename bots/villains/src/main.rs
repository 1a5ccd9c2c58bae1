//! A bot that misbehaves on purpose.

fn main() {}
