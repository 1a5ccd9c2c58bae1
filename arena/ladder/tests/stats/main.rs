//! Figures of strength against figures and programs that we did not write.

mod sprt;
