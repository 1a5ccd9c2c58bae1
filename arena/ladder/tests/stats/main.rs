//! Figures of strength against figures and programs that we did not write.

mod elo;
mod sprt;
mod vocabulary;
