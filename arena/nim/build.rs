//! Compiles the messages of the game. Those of the envelope are `arena-proto`'s.

use std::{env, error::Error, fs, path::PathBuf};

const FILE: &str = "proto/nim.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={FILE}");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut compiler = protox::Compiler::new(["proto", "../../proto"])?;
    compiler.include_imports(true).include_source_info(true);
    compiler.open_file(FILE)?;
    // Encoded by the compiler, which keeps the option that has texts of values.
    let descriptors = compiler.encode_file_descriptor_set();
    fs::write(out.join("descriptors.bin"), descriptors)?;
    tonic_prost_build::configure()
        .build_client(false)
        .build_server(false)
        .extern_path(".arena.v1", "::arena_proto::arena::v1")
        .compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
