//! Tests that every fault is reported with its line and the most similar valid name.

use expect_test::{Expect, expect};

use super::ConfigFixture;

#[track_caller]
fn check(text: &str, expected: &Expect) {
    ConfigFixture::with_config(text).check_faults(expected);
}

#[test]
fn an_unknown_key_is_reported_with_its_line_and_the_nearest_name() {
    check(
        "# a comment\n[server]\nlisen = \"127.0.0.1:80\"\n",
        &expect![[r#"
            tollgate.toml:3: unknown key `lisen` in [server]; did you mean `listen`?
        "#]],
    );
}

#[test]
fn an_unknown_section_is_reported_with_the_nearest_one() {
    check(
        "[servr]\nlisten = \"127.0.0.1:80\"\n[[models]]\nid = \"x\"\nincludes = []\n",
        &expect![[r#"
            tollgate.toml:1: unknown section `servr`; did you mean `server`?
            tollgate.toml:3: unknown key `models`; did you mean `model`?
        "#]],
    );
}

#[test]
fn every_fault_is_reported_at_once_in_the_order_of_the_file() {
    check(
        r#"
[server]
listen = "nowhere"
trusted_proxies = ["10.0.0.0/40"]
country_header = "country of the caller"
shutdown_grace_s = -1

[store]
url = "mysql://root:hunter2@db/tollgate"

[development]
enabled = "yes"
starting_credit_usd = 10.5

[[provider]]
id = "A B"
kind = "opnai"
timeout_s = 0

[rpc.networks.etherium-mainnet]
urls = []
"#,
        &expect![[r#"
            tollgate.toml:3: `listen` in [server] must be an address and port such as "127.0.0.1:8080", not "nowhere"
            tollgate.toml:4: `trusted_proxies` in [server] must be addresses or ranges such as "10.0.0.0/8", not "10.0.0.0/40"
            tollgate.toml:5: `country_header` in [server] must be the name of a header, such as "cf-ipcountry"
            tollgate.toml:6: `shutdown_grace_s` in [server] must be a whole number from 0 to 3600, not -1
            tollgate.toml:9: `url` in [store] must be a URL that starts with sqlite: or postgres:// or postgresql://, not "mysql://root:***@db/tollgate"
            tollgate.toml:12: `enabled` in [development] must be true or false, not "yes"
            tollgate.toml:13: `starting_credit_usd` in [development] must be a decimal amount in quotes, such as "0.70", not 10.5
            tollgate.toml:16: `id` in [[provider]] must be at most 64 lower case letters, digits, `-`, `_` or `.`
            tollgate.toml:17: `kind` in [[provider]] must be one of "openai", "anthropic", "sdcpp", "a1111", "comfyui", "fal", "kokoro", "whispercpp", "acestep", "tei", "local", not "opnai"; did you mean `openai`?
            tollgate.toml:18: `timeout_s` in [[provider]] must be a whole number from 1 to 86400, not 0
            tollgate.toml:20: unknown network `etherium-mainnet` in [rpc.networks]; did you mean `ethereum-mainnet`?
            tollgate.toml:21: `urls` must name at least one URL
        "#]],
    );
}

#[test]
fn what_is_missing_is_reported_at_the_table_that_lacks_it() {
    check(
        "\n[[provider]]\nid = \"vllm\"\n[[provider]]\nkind = \"openai\"\nid = \"other\"\n",
        &expect![[r#"
            tollgate.toml:2: `kind` is missing in [[provider]]
            tollgate.toml:4: `base_url` is missing in [[provider]]; write where it answers, such as "http://127.0.0.1:8000/v1"
        "#]],
    );
}

#[test]
fn syntax_errors_have_lines_too() {
    check(
        "[server]\nlisten = \n[store]\nurl = \"sqlite:x\"\nurl = \"sqlite:y\"\n",
        &expect![[r#"
            tollgate.toml:2: string values must be quoted, expected literal string
            tollgate.toml:2: `listen` in [server] must be text that is not empty, not ""
            tollgate.toml:5: duplicate key
        "#]],
    );
}

#[test]
fn a_wrong_amount_says_what_to_write() {
    check(
        "[x402]\nminimum_usd = \"1e5\"\nmaximum_usd = \"-5\"\n[development]\nstarting_credit_usd = \"0.0000000001\"\n",
        &expect![[r#"
            tollgate.toml:2: `minimum_usd` in [x402]: write the amount as a plain decimal, such as 10 or 10.50
            tollgate.toml:3: `maximum_usd` in [x402]: write an amount without a sign, zero or more
            tollgate.toml:5: `starting_credit_usd` in [development]: write at most 9 digits after the point
        "#]],
    );
}

#[test]
fn payments_need_what_their_settlement_needs() {
    check(
        r#"
[x402]
pay_to_evm = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
pay_to_solana = "not an address"
settle = "direct"
evm_rpc_url = "http://node"
minimum_usd = "10"
maximum_usd = "9"
[search]
provider = "brave"
[scrape]
chromium = "chromium"
"#,
        &expect![[r#"
            tollgate.toml:3: `evm_relayer_key` is missing in [x402]: `pay_to_evm` is set and settling needs it
            tollgate.toml:4: `pay_to_solana` in [x402] must be a base58 address of 32 to 44 characters, not "not an address"
            tollgate.toml:4: `solana_rpc_url` is missing in [x402]: `pay_to_solana` is set and settling needs it
            tollgate.toml:4: `solana_fee_payer_key` is missing in [x402]: `pay_to_solana` is set and settling needs it
            tollgate.toml:8: `maximum_usd` in [x402] must be at least `minimum_usd`
            tollgate.toml:10: `api_key` is missing in [search]: brave needs it
            tollgate.toml:12: `chromium` in [scrape] must be "auto", "off" or a full path, not "chromium"
        "#]],
    );
}

#[test]
fn an_mcp_server_has_a_price_or_says_that_it_is_free() {
    check(
        r#"
[[mcp_server]]
label = "a b"
url = "http://a"
[[mcp_server]]
label = "b"
url = "http://a"
price_per_call_usd = "0.1"
free = true
[[mcp_server]]
label = "b"
url = "http://a"
free = true
"#,
        &expect![[r#"
            tollgate.toml:2: `price_per_call_usd` is missing in [[mcp_server]]; write it, or `free = true`
            tollgate.toml:3: `label` in [[mcp_server]] must be at most 32 letters, digits, `-` or `_`
            tollgate.toml:9: `free = true` and `price_per_call_usd` contradict each other; leave one of them out
            tollgate.toml:11: a second [[mcp_server]] has the label `b`
        "#]],
    );
}

#[test]
fn two_providers_cannot_share_an_id() {
    let provider = "[[provider]]\nid = \"vllm\"\nkind = \"openai\"\nbase_url = \"http://a\"\n";
    check(
        &provider.repeat(2),
        &expect![[r#"
            tollgate.toml:6: a second [[provider]] has the id `vllm`
        "#]],
    );
}

#[test]
fn one_address_cannot_serve_both_listeners() {
    check(
        "[server]\nlisten = \"127.0.0.1:9000\"\nadmin_listen = \"127.0.0.1:9000\"\n",
        &expect![[r#"
            tollgate.toml:3: `admin_listen` must differ from `listen` in [server]
        "#]],
    );
    let both_free = "[server]\nlisten = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\n";
    ConfigFixture::with_config(both_free).config();
}

#[test]
fn sections_and_lists_are_told_apart() {
    check(
        "server = 1\n[provider]\nid = \"x\"\n[[store]]\n",
        &expect![[r#"
            tollgate.toml:1: `server` must be a section, written [server]
            tollgate.toml:2: `provider` must be a list, written [[provider]]
            tollgate.toml:4: `store` must be a section, written [store]
        "#]],
    );
}

#[test]
fn a_wrong_log_level_is_no_name_of_a_module() {
    check(
        "[log]\nlevel = \"api=debug,inof\"\n",
        &expect![[r#"
            tollgate.toml:2: `level` in [log] must be error, warn, info, debug, trace or off, not "inof"; did you mean `info`?
        "#]],
    );
    ConfigFixture::with_config("[log]\nlevel = \"warn,api=debug\"\n").config();
}

#[test]
fn keys_of_one_kind_of_provider_are_refused_for_another() {
    check(
        "[[provider]]\nid = \"p\"\nkind = \"anthropic\"\nbase_url = \"http://x\"\ndialect = \"ollama\"\n",
        &expect![[r#"
            tollgate.toml:5: `dialect` in [[provider]] is for the kind "openai" only
        "#]],
    );
    check(
        "[[provider]]\nid = \"p\"\nkind = \"anthropic\"\nbase_url = \"http://x\"\napi = \"responses\"\n",
        &expect![[r#"
            tollgate.toml:5: `api` in [[provider]] is for the kind "openai" only
        "#]],
    );
}
