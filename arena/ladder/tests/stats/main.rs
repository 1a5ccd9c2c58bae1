//! Figures of strength against figures and programs that we did not write.

mod bradley_terry;
mod elo;
mod mantel_haenszel;
mod online;
mod plackett_luce;
mod sprt;
mod standings;
mod vocabulary;
mod worker_failures;
