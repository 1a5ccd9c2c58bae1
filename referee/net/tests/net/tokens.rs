//! Calls with a token, with a wrong one and without one.

use referee_net::{Bearer, Bounds, Token, TokenFile};
use tonic::Code;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use crate::common::Running;

#[tokio::test]
async fn only_a_caller_with_a_token_of_the_file_is_heard() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    let token = Token::generate().unwrap();
    token.write_new(&path).unwrap();
    let tokens = TokenFile::load(&path).unwrap();
    let server = Running::with_tokens(None, Bounds::default(), Some(tokens)).await;
    let target = format!("http://{}", server.address).parse().unwrap();
    let other = Token::generate().unwrap();
    for (token, is_known) in [(&token, true), (&other, false)] {
        let bearer = Bearer::new(token, &target, false).unwrap();
        let mut client = HealthClient::with_interceptor(server.channel(None), bearer);
        let called = client.check(HealthCheckRequest::default()).await;
        let code = called.map_or_else(|status| status.code(), |_| Code::Ok);
        let expected = if is_known {
            Code::Ok
        } else {
            Code::Unauthenticated
        };
        assert_eq!(code, expected);
    }
    let status = server.call(None).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
    assert_eq!(server.callers().len(), 1);
}
