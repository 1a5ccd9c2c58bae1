//! Eliminations.
