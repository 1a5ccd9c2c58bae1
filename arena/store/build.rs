//! Has the crate built again when a migration is added: its macro looks at files
//! that cargo does not know of.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
