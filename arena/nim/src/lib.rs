//! A game in a crate of its own, and a program that plays it. It has what the games of `referee-games`
//! have: a .proto file, a folder, and a line, which is in `main.rs`.

pub mod nim;
