//! Compiles the game's .proto file. The messages that all games share are those of `arena-proto`.

use std::error::Error;

const FILE: &str = "games/nim/v1/nim.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto/{FILE}");
    let descriptors = protox::compile([FILE], ["proto", "../../../proto"])?;
    tonic_prost_build::configure()
        .build_client(false)
        .build_server(false)
        .extern_path(".arena.v1", "::arena_proto::arena::v1")
        .compile_fds(descriptors)?;
    Ok(())
}
