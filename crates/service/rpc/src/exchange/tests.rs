//! Tests of combining answers: order, ids, gaps, and retries.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::billing;
use crate::networks::RpcNetwork;

fn batch(body: &str) -> CallBatch {
    let network = RpcNetwork::parse("ethereum-mainnet").expect("served");
    CallBatch::parse(network, body.as_bytes()).expect("a good body")
}

const TWO_READS: &str =
    r#"[{"id":"a","method":"eth_blockNumber"},{"id":"a","method":"eth_gasPrice"}]"#;
const READ_AND_SEND: &str = r#"[{"id":7,"method":"eth_blockNumber"},
    {"id":8,"method":"eth_sendRawTransaction","params":["0xc0"]}]"#;
const SEND: &str = r#"{"id":8,"method":"eth_sendRawTransaction","params":["0xc0"]}"#;

/// Lets one node answer, and shows the calls that are still open and the caller's response.
#[track_caller]
fn check(body: &str, answer: &str, expected: Expect) {
    let batch = batch(body);
    let mut exchange = BatchExchange::new(&batch);
    let asked = exchange.open();
    let is_readable = exchange.take_answer(&asked, answer.as_bytes());
    let prefix = if is_readable { "" } else { "unreadable, " };
    expected.assert_eq(&format!("{prefix}{}", describe(exchange)));
}

fn describe(exchange: BatchExchange<'_>) -> String {
    let open = exchange.open();
    match exchange.finish() {
        Ok(reply) => {
            let body = String::from_utf8(reply.body).expect("JSON is text");
            format!("open {open:?} {:?}\n{body}\n", reply.outcomes)
        }
        Err(unanswered) => format!("open {open:?} {unanswered:?}\n"),
    }
}

#[test]
fn nodes_see_positions_instead_of_ids() {
    let batch = batch(
        r#"[{"id":"x","method":"eth_call","params":[ 1.0 ]},{"id":9,"method":"eth_chainId"}]"#,
    );
    let exchange = BatchExchange::new(&batch);
    expect![[r#"[{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[ 1.0 ]},{"jsonrpc":"2.0","id":2,"method":"eth_chainId","params":[]}]"#]]
        .assert_eq(&exchange.build_request(&[0, 1]));
    expect![[r#"{"jsonrpc":"2.0","id":2,"method":"eth_chainId","params":[]}"#]]
        .assert_eq(&exchange.build_request(&[1]));
}

#[test]
fn answers_out_of_order_find_their_calls_and_keep_their_bytes() {
    check(
        TWO_READS,
        r#" [ {"result" : {"b": 1.0e5} , "id": 2, "jsonrpc":"2.0"}, {"jsonrpc":"2.0","id":"1","result":null} ] "#,
        expect![[r#"
            open [] [Result, Result]
            [{"jsonrpc":"2.0","id":"a","result":null},{"result" : {"b": 1.0e5} , "id": "a", "jsonrpc":"2.0"}]
        "#]],
    );
}

#[test]
fn a_call_left_out_may_be_asked_again_and_else_costs_like_an_error() {
    check(
        TWO_READS,
        r#"[{"id":1,"result":1},{"id":77,"result":2},{"result":3},{"id":2},5]"#,
        expect![[r#"
            open [1] [Result, Error]
            [{"id":"a","result":1},{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"The node did not answer this call"}}]
        "#]],
    );
}

#[test]
fn the_first_of_two_answers_to_a_call_counts() {
    check(
        TWO_READS,
        r#"[{"id":1,"result":1},{"id":1,"result":2},{"id":2,"result":3}]"#,
        expect![[r#"
        open [] [Result, Result]
        [{"id":"a","result":1},{"id":"a","result":3}]
    "#]],
    );
}

#[test]
fn one_error_for_the_whole_batch_goes_to_every_call() {
    check(
        TWO_READS,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}"#,
        expect![[r#"
            open [0, 1] [Error, Error]
            [{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"no batches"}},{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"no batches"}}]
        "#]],
    );
}

#[test]
fn one_object_for_a_batch_answers_the_call_it_names() {
    check(
        TWO_READS,
        r#"{"id":2,"result":"0x1"}"#,
        expect![[r#"
        open [0] [Error, Result]
        [{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"The node did not answer this call"}},{"id":"a","result":"0x1"}]
    "#]],
    );
}

#[test]
fn a_huge_error_is_not_copied_to_every_call() {
    let batch = batch(TWO_READS);
    let mut exchange = BatchExchange::new(&batch);
    let huge = format!(r#"{{"error":{{"code":1,"message":"{}"}}}}"#, "x".repeat(5000));
    exchange.take_answer(&[0, 1], huge.as_bytes());
    assert!(exchange.finish().expect("answered").body.len() < 500);
}

#[test]
fn a_lone_answer_may_lack_an_id_but_not_carry_a_strangers() {
    let lone = r#"{"id":"mine","method":"eth_blockNumber"}"#;
    check(
        lone,
        r#"{"error":{"code":-32000,"message":"m"}}"#,
        expect![[r#"
        open [] [Error]
        {"id":"mine","error":{"code":-32000,"message":"m"}}
    "#]],
    );
    check(
        lone,
        r#"[{"id":null,"result":1,"error":null}]"#,
        expect![[r#"
        open [] [Result]
        {"id":"mine","result":1,"error":null}
    "#]],
    );
    check(
        lone,
        r#"{"id":2,"result":"somebody else's"}"#,
        expect![[r#"
        open [0] [Error]
        {"jsonrpc":"2.0","id":"mine","error":{"code":-32603,"message":"The node did not answer this call"}}
    "#]],
    );
}

#[test]
fn garbage_leaves_reads_open_and_what_was_sent_in_doubt() {
    for garbage in ["", "<html>", "{}", "null", r#""text""#, "[{", "\u{0}"] {
        check(
            TWO_READS,
            garbage,
            expect![[r#"
            unreadable, open [0, 1] Untouched
        "#]],
        );
        check(
            SEND,
            garbage,
            expect![[r#"
            unreadable, open [] Unconfirmed
        "#]],
        );
    }
}

#[test]
fn a_node_that_lacks_the_method_or_has_had_enough_leaves_the_call_open() {
    for code in [-32601, -32005] {
        let answer = format!(r#"[{{"id":1,"error":{{"code":{code}}}}},{{"id":2,"result":1}}]"#);
        let batch = batch(READ_AND_SEND);
        let mut exchange = BatchExchange::new(&batch);
        exchange.take_answer(&[0, 1], answer.as_bytes());
        assert_eq!(exchange.open(), [0]);
        exchange.take_answer(&[0], br#"{"id":1,"result":"better"}"#);
        let reply = exchange.finish().expect("answered");
        assert_eq!(reply.body, br#"[{"id":7,"result":"better"},{"id":8,"result":1}]"#);
    }
}

#[test]
fn a_nodes_own_words_outlive_a_later_failure() {
    let batch = batch(r#"{"id":1,"method":"trace_call"}"#);
    let mut exchange = BatchExchange::new(&batch);
    exchange.take_answer(&[0], br#"{"id":1,"error":{"code":-32601,"message":"no traces"}}"#);
    exchange.mark_unconfirmed(&[0]);
    exchange.take_access_refusal(&[0], 401);
    expect![[r#"
        open [0] [Error]
        {"id":1,"error":{"code":-32601,"message":"no traces"}}
    "#]]
    .assert_eq(&describe(exchange));
}

#[test]
fn a_known_transaction_is_a_success_with_its_hash() {
    for message in
        ["already known", "AlreadyKnown", "Known transaction", "transaction already imported"]
    {
        check(
            SEND,
            &format!(r#"{{"id":1,"error":{{"code":-32000,"message":"{message}"}}}}"#),
            expect![[r#"
            open [] [Result]
            {"jsonrpc":"2.0","id":8,"result":"0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347"}
        "#]],
        );
    }
    check(
        SEND,
        r#"{"id":1,"error":{"code":-32000,"message":"nonce too low"}}"#,
        expect![[r#"
        open [] [Error]
        {"id":8,"error":{"code":-32000,"message":"nonce too low"}}
    "#]],
    );
}

#[test]
fn a_known_transaction_whose_receipt_was_asked_stays_an_error() {
    let sync = r#"{"id":8,"method":"eth_sendRawTransactionSync","params":["0xc0"]}"#;
    check(
        sync,
        r#"{"id":1,"error":{"code":-32000,"message":"already known"}}"#,
        expect![[r#"
        open [] [Error]
        {"id":8,"error":{"code":-32000,"message":"already known"}}
    "#]],
    );
}

#[test]
fn a_transaction_left_out_of_the_answer_is_in_doubt_and_not_sent_again() {
    check(
        READ_AND_SEND,
        r#"[{"id":1,"result":1}]"#,
        expect![[r#"
        open [] [Result, Error]
        [{"id":7,"result":1},{"jsonrpc":"2.0","id":8,"error":{"code":-32603,"message":"The node did not confirm this call, which may have been executed. Check before you repeat it"}}]
    "#]],
    );
}

#[test]
fn after_a_break_only_the_reads_are_asked_again() {
    let batch = batch(READ_AND_SEND);
    let mut exchange = BatchExchange::new(&batch);
    exchange.mark_unconfirmed(&[0, 1]);
    assert_eq!(exchange.open(), [0]);
    exchange.take_answer(&[0], br#"{"id":1,"result":1}"#);
    expect![[r#"
        open [] [Result, Unavailable]
        [{"id":7,"result":1},{"jsonrpc":"2.0","id":8,"error":{"code":-32603,"message":"The node did not confirm this call, which may have been executed. Check before you repeat it"}}]
    "#]]
    .assert_eq(&describe(exchange));
}

#[test]
fn a_refusal_ends_every_call_with_the_nodes_words_or_ours() {
    let batch = batch(TWO_READS);
    let mut exchange = BatchExchange::new(&batch);
    exchange.take_refusal(&[0, 1], 400, br#"[{"id":1,"error":{"code":-32601,"message":"m"}}]"#);
    expect![[r#"
        open [] [Error, Error]
        [{"id":"a","error":{"code":-32601,"message":"m"}},{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"The node refused the call: HTTP 400"}}]
    "#]]
    .assert_eq(&describe(exchange));
}

#[test]
fn a_result_that_comes_with_a_refusal_costs_what_a_refusal_costs() {
    let batch = batch(r#"{"id":1,"method":"eth_call"}"#);
    let mut exchange = BatchExchange::new(&batch);
    exchange.take_refusal(&[0], 400, br#"{"id":1,"result":1}"#);
    expect![[r#"
        open [] [Error]
        {"id":1,"result":1}
    "#]]
    .assert_eq(&describe(exchange));
}

fn raw_id() -> impl Strategy<Value = String> {
    let string = ".{0,12}".prop_map(|it| serde_json::Value::from(it).to_string());
    let escaped = r"(\\u[0-9a-f]{4}|\\n|[a-z ]){0,6}".prop_map(|it| format!("\"{it}\""));
    prop_oneof![
        any::<u64>().prop_map(|it| it.to_string()),
        any::<i64>().prop_map(|it| it.to_string()),
        "-?[1-9][0-9]{0,40}",
        Just("null".to_owned()),
        string,
        escaped,
    ]
}

#[derive(serde::Deserialize)]
struct ReplyItem<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    result: &'a RawValue,
}

proptest! {
    #[test]
    fn any_ids_come_back_byte_for_byte_in_order(
        ids in proptest::collection::vec(raw_id(), 1..100),
        seed in any::<usize>(),
    ) {
        let calls: Vec<String> =
            ids.iter().map(|it| format!(r#"{{"method":"eth_call","id": {it} }}"#)).collect();
        let batch = batch(&format!("[{}]", calls.join(",")));
        let mut exchange = BatchExchange::new(&batch);
        let mut answers: Vec<String> =
            (1..=ids.len()).map(|it| format!(r#"{{"id":{it},"result":{it}.0}}"#)).collect();
        answers.rotate_left(seed % ids.len());
        let asked = exchange.open();
        exchange.take_answer(&asked, format!("[{}]", answers.join(",")).as_bytes());
        let reply = exchange.finish().expect("all answered");
        let items: Vec<ReplyItem<'_>> = serde_json::from_slice(&reply.body).expect("an array");
        prop_assert_eq!(items.len(), ids.len());
        for (position, (item, id)) in items.iter().zip(&ids).enumerate() {
            prop_assert_eq!(item.id.get(), id.as_str());
            prop_assert_eq!(item.result.get(), format!("{}.0", position + 1));
        }
    }

    #[test]
    fn no_answer_makes_it_panic_or_charge_beyond_the_hold(
        answers in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..80),
                r#"[\[\]{},:"1-3 ]{0,40}"#.prop_map(String::into_bytes),
                r#"\[?\{"id":"?[0-4]"?,"(result|error)":(1|null|\{"code":-32601\})\}\]?"#
                    .prop_map(String::into_bytes),
            ],
            0..4,
        ),
    ) {
        let batch = batch(READ_AND_SEND);
        let mut exchange = BatchExchange::new(&batch);
        for answer in answers {
            let asked = exchange.open();
            exchange.take_answer(&asked, &answer);
        }
        if let Ok(reply) = exchange.finish() {
            prop_assert_eq!(reply.outcomes.len(), 2);
            let parsed: Vec<serde_json::Value> = serde_json::from_slice(&reply.body).expect("JSON");
            prop_assert_eq!(parsed.len(), 2);
            let charged = billing::charged_credits(&batch, &reply.outcomes);
            prop_assert!(charged <= billing::most_credits(&batch));
        }
    }
}
