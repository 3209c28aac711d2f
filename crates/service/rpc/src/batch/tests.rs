//! Tests of the bodies that are accepted, and of the messages for all others.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn network(slug: &str) -> RpcNetwork {
    RpcNetwork::parse(slug).expect("a network of the specification")
}

#[track_caller]
fn check(body: &str, expected: Expect) {
    check_on("ethereum-mainnet", body, expected);
}

#[track_caller]
fn check_on(slug: &str, body: &str, expected: Expect) {
    expected.assert_eq(&describe(CallBatch::parse(network(slug), body.as_bytes())));
}

fn describe(parsed: Result<CallBatch, BatchRefusal>) -> String {
    match parsed {
        Ok(batch) => {
            let line = |it: &ProxyCall| format!("{} {} {}\n", it.id(), it.method.name, it.params());
            batch.calls().iter().map(line).collect()
        }
        Err(BatchRefusal::Malformed(faults)) => {
            let line = |it: &BatchFault| format!("{:?} {:?}: {}\n", it.item, it.field, it.message);
            faults.iter().map(line).collect()
        }
        Err(refusal) => format!("{refusal}\n"),
    }
}

fn batch_of(calls: usize) -> String {
    let items = vec![r#"{"id":1,"method":"eth_call","params":[]}"#; calls];
    format!("[{}]", items.join(","))
}

#[test]
fn ids_and_parameters_are_kept_as_they_were_written() {
    check(
        r#"[{"jsonrpc":"2.0","id":18446744073709551615,"method":"eth_call","params":[ {"to" : "0x"} ]},
            {"id":"\u0061b","method":"eth_chainId"},
            {"id":null,"method":"eth_chainId","params":[1e400]},
            {"id":-0,"method":"eth_\u0063all","params":[],"extra":true},
            {"id":-0,"method":"eth_call","params":[]}]"#,
        expect![[r#"
            18446744073709551615 eth_call [ {"to" : "0x"} ]
            "\u0061b" eth_chainId []
            null eth_chainId [1e400]
            -0 eth_call []
            -0 eth_call []
        "#]],
    );
}

#[test]
fn a_lone_call_needs_only_a_method() {
    check(
        r#" {"method":"eth_chainId"} "#,
        expect![[r#"
        null eth_chainId []
    "#]],
    );
}

#[test]
fn everything_wrong_is_reported_at_once() {
    check(
        r#"[{"jsonrpc":"1.0","id":{},"method":7,"params":"x"},
            {"method":"eth_call"},
            17,
            {"id":1,"id":2,"method":"eth_call"},
            {"id":true,"method":"eth_accounts","params":null},
            {"id":1},
            ["2.0",1,"eth_call",[]],
            {"id":1.5,"method":"eth_call"},
            {"id":1e3,"method":"eth_call"}]"#,
        expect![[r#"
            Some(0) Some("jsonrpc"): Expected "2.0"
            Some(0) Some("id"): Expected an integer, a string or null
            Some(0) Some("params"): Expected an array
            Some(0) Some("method"): Expected a string
            Some(1) Some("id"): Required in a batch
            Some(2) None: Expected a JSON-RPC object
            Some(3) None: Not readable: duplicate field `id` at line 1 column 12
            Some(4) Some("id"): Expected an integer, a string or null
            Some(4) Some("params"): Expected an array
            Some(4) Some("method"): eth_accounts is not served on ethereum-mainnet: the nodes have no keys; sign locally and use eth_sendRawTransaction
            Some(5) Some("method"): Required
            Some(6) None: Expected a JSON-RPC object
            Some(7) Some("id"): Expected an integer, a string or null
            Some(8) Some("id"): Expected an integer, a string or null
        "#]],
    );
}

#[test]
fn a_batch_with_unsupported_methods_is_refused_whole_and_each_is_named_once() {
    check(
        r#"[{"id":1,"method":"eth_call"},{"id":2,"method":"eth_newFilter"},
            {"id":3,"method":"foo_bar"},{"id":4,"method":"eth_newFilter"},
            {"id":5,"method":"starknet_call"}]"#,
        expect![[r#"
            Unsupported methods: eth_newFilter (filters exist on one node only; use eth_getLogs instead), foo_bar (not on the list of served methods), starknet_call (served only on starknet)
        "#]],
    );
}

#[test]
fn bodies_that_hold_no_call_are_refused() {
    check(
        " \n",
        expect![[r#"
        None None: The body is empty: send a JSON-RPC object
    "#]],
    );
    check(
        "[]",
        expect![[r#"
        None None: The batch is empty: send 1 to 100 calls
    "#]],
    );
    check(
        "{",
        expect![[r#"
        None None: The body is not JSON: EOF while parsing an object at line 1 column 1
    "#]],
    );
    check(
        "[] x",
        expect![[r#"
        None None: The body is not JSON: trailing characters at line 1 column 4
    "#]],
    );
    check(
        "null",
        expect![[r#"
        None None: Expected a JSON-RPC object
    "#]],
    );
}

#[test]
fn a_hundred_calls_are_the_most() {
    let hundred = CallBatch::parse(network("base-mainnet"), batch_of(100).as_bytes());
    assert_eq!(hundred.expect("a hundred are taken").calls().len(), 100);
    check(
        &batch_of(101),
        expect![[r#"
        None None: The batch has 101 calls: send at most 100
    "#]],
    );
}

#[test]
fn a_long_name_is_not_repeated_to_its_sender() {
    let name = "x".repeat(600);
    check(
        &format!(r#"{{"method":"{name}"}}"#),
        expect![[r#"
        None Some("method"): Too long to be a method's name
    "#]],
    );
}

#[test]
fn parameters_by_name_are_for_starknet() {
    let body =
        |method| format!(r#"{{"id":1,"method":"{method}","params":{{"block_id":"latest"}}}}"#);
    check_on(
        "starknet-mainnet",
        &body("starknet_getBlockWithTxs"),
        expect![[r#"
        1 starknet_getBlockWithTxs {"block_id":"latest"}
    "#]],
    );
    check(
        &body("eth_getBlockByNumber"),
        expect![[r#"
        None Some("params"): Expected an array
    "#]],
    );
}

#[test]
fn nesting_as_deep_as_a_body_allows_does_not_exhaust_the_stack() {
    let deep = format!(
        r#"{{"method":"eth_call","params":{}{}}}"#,
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    assert!(CallBatch::parse(network("base-mainnet"), deep.as_bytes()).is_ok());
}

#[test]
fn a_signed_payload_is_not_printed() {
    let body = br#"{"method":"eth_sendRawTransaction","params":["0x5ec2e7"]}"#;
    let batch = CallBatch::parse(network("base-mainnet"), body).expect("a good call");
    assert!(!format!("{batch:?}").contains("5ec2e7"));
    assert_eq!(batch.submitted_transactions().count(), 1);
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = CallBatch::parse(network("zksync-mainnet"), &body);
    }

    #[test]
    fn no_text_of_json_letters_makes_it_panic(body in r#"[\[\]{}:,"\\ 01a.e-]{0,60}"#) {
        let _ = CallBatch::parse(network("zksync-mainnet"), body.as_bytes());
    }

    #[test]
    fn no_member_makes_it_panic(id in ".{0,20}", params in ".{0,20}") {
        let body = format!(r#"[{{"method":"eth_call","id":{id},"params":[{params}]}}]"#);
        let _ = CallBatch::parse(network("zksync-mainnet"), body.as_bytes());
    }
}
