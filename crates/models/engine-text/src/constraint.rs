//! Constrains an answer to a grammar: JSON, JSON of a schema, or calls of given tools.

use std::sync::Arc;

use llama::{LlamaModel, TokenId};
use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use serde_json::{Value, json};
use toktrie::{ApproximateTokEnv, TokEnv, TokRxInfo, TokTrie};

use crate::refusal::TextRefusal;
use crate::request::PromptTool;
use crate::tools::{BEGIN, END};
use crate::weights::token_number;

const TOOL_NAME_CHARS_MAX: usize = 64;

/// Compiles grammars for one model's vocabulary.
pub(crate) struct GrammarCompiler {
    factory: ParserFactory,
    vocabulary: TokEnv,
}

/// A grammar and the parser's state within it.
pub(crate) struct GrammarConstraint {
    matcher: Matcher,
    vocabulary: TokEnv,
}

/// The grammar engine failed, for example at its limit of work per token.
#[derive(Debug, thiserror::Error)]
#[error("the constraint could not be followed: {0}")]
pub(crate) struct ConstraintError(String);

impl GrammarCompiler {
    /// Processes the whole vocabulary, which takes hundreds of milliseconds for a large one.
    pub(crate) fn new(model: &LlamaModel) -> Result<GrammarCompiler, String> {
        GrammarCompiler::for_vocabulary(vocabulary_of(model)?)
    }

    fn for_vocabulary(vocabulary: TokEnv) -> Result<GrammarCompiler, String> {
        let mut factory =
            ParserFactory::new_simple(&vocabulary).map_err(|error| error.to_string())?;
        factory.quiet();
        // Its errors reach callers, who do not need the parser's state or the vocabulary.
        factory.limits_mut().verbose_errors = false;
        Ok(GrammarCompiler { factory, vocabulary })
    }

    pub(crate) fn json_schema(&self, schema: &Value) -> Result<GrammarConstraint, TextRefusal> {
        let schema = answer_schema(schema)?;
        self.compile_grammar("response_format", TopLevelGrammar::from_json_schema(schema))
    }

    /// Either tool calls or an answer that conforms to a schema.
    pub(crate) fn calls_or_json(
        &self,
        tools: &[&PromptTool],
        is_one: bool,
        schema: &Value,
    ) -> Result<GrammarConstraint, TextRefusal> {
        let start = format!("{} | answer", calls_rule(is_one));
        let answer = format!("answer: %json {}\n", answer_schema(schema)?);
        // Either part may be invalid; the error says which.
        self.compile_grammar("response_format", build_lark_grammar(&start, tools, &answer)?)
    }

    /// An answer that consists of tool calls: one, or any number.
    pub(crate) fn tool_calls(
        &self,
        tools: &[&PromptTool],
        is_one: bool,
    ) -> Result<GrammarConstraint, TextRefusal> {
        self.compile_grammar("tools", build_lark_grammar(&calls_rule(is_one), tools, "")?)
    }

    /// The rest of a call after the opening tag that the model wrote unprompted.
    pub(crate) fn rest_of_call(
        &self,
        tools: &[&PromptTool],
    ) -> Result<GrammarConstraint, TextRefusal> {
        let rest = format!("\"\\n\"? body \"\\n\"? {}", quote_literal(END));
        self.compile_grammar("tools", build_lark_grammar(&rest, tools, "")?)
    }

    fn compile_grammar(
        &self,
        param: &'static str,
        grammar: TopLevelGrammar,
    ) -> Result<GrammarConstraint, TextRefusal> {
        let parser = self.factory.create_parser(grammar);
        let parser = parser.map_err(|error| {
            TextRefusal::invalid(param, format!("The JSON schema cannot be enforced: {error}"))
        })?;
        let vocabulary = TokEnv::clone(&self.vocabulary);
        Ok(GrammarConstraint { matcher: Matcher::new(Ok(parser)), vocabulary })
    }
}

impl std::fmt::Debug for GrammarCompiler {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Grammars")
    }
}

impl std::fmt::Debug for GrammarConstraint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Constraint")
    }
}

impl GrammarConstraint {
    /// A copy of the grammar in its initial state, for another choice or call.
    pub(crate) fn clone_initial(&self) -> GrammarConstraint {
        let vocabulary = TokEnv::clone(&self.vocabulary);
        GrammarConstraint { matcher: self.matcher.deep_clone(), vocabulary }
    }

    /// Sets the logits of disallowed tokens to negative infinity.
    pub(crate) fn mask_logits(&mut self, logits: &mut [f32]) -> Result<(), ConstraintError> {
        let mask =
            self.matcher.compute_mask_or_eos().map_err(|it| ConstraintError(it.to_string()))?;
        let words = mask.as_slice();
        for (index, logit) in logits.iter_mut().enumerate() {
            let word = words.get(index / 32).copied().unwrap_or(0);
            if word >> (index % 32) & 1 == 0 {
                *logit = f32::NEG_INFINITY;
            }
        }
        Ok(())
    }

    pub(crate) fn accept_token(&mut self, token: u32) -> Result<(), ConstraintError> {
        if self.matcher.is_stopped() {
            return Ok(());
        }
        self.matcher.consume_token(token).map_err(|error| ConstraintError(error.to_string()))
    }

    /// Advances over text that was generated before the constraint applied.
    pub(crate) fn accept_text(&mut self, text: &str) -> Result<(), ConstraintError> {
        let tokens = self.vocabulary.tokenize(text);
        self.matcher.consume_tokens(&tokens).map_err(|error| ConstraintError(error.to_string()))
    }

    /// True if nothing more can follow.
    pub(crate) fn is_complete(&self) -> bool {
        self.matcher.is_stopped()
    }
}

/// The bytes of every token, and all tokens that end an answer.
fn vocabulary_of(model: &LlamaModel) -> Result<TokEnv, String> {
    let words = i32::try_from(model.vocabulary_size()).map_err(|error| error.to_string())?;
    let end =
        model.end_of_turn().or(model.eos_token()).ok_or("the model has no token for an end")?;
    let mut ends = vec![token_number(end)];
    let mut pieces = Vec::with_capacity(model.vocabulary_size());
    for token in (0..words).map(TokenId) {
        if model.is_end(token) && token != end {
            ends.push(token_number(token));
        }
        pieces.push(token_bytes(model, token));
    }
    let info = TokRxInfo::new(words.unsigned_abs(), token_number(end));
    let trie = TokTrie::from(&info, &pieces).with_eos_tokens(&ends);
    Ok(Arc::new(ApproximateTokEnv::new(trie)))
}

/// The bytes of a token. Special tokens get a marker, so that no text matches them.
fn token_bytes(model: &LlamaModel, token: TokenId) -> Vec<u8> {
    let plain = model.token_bytes(token, false);
    if !plain.is_empty() {
        return plain;
    }
    let special = model.token_bytes(token, true);
    if special.is_empty() {
        special
    } else {
        [&[TokTrie::SPECIAL_TOKEN_MARKER], &special[..]].concat()
    }
}

fn calls_rule(is_one: bool) -> String {
    let (begin, end) = (quote_literal(&format!("{BEGIN}\n")), quote_literal(&format!("\n{END}")));
    let call = format!("{begin} body {end}");
    let more = if is_one { String::new() } else { format!(" (\"\\n\" {call})*") };
    format!("{call}{more}")
}

fn answer_schema(schema: &Value) -> Result<Value, TextRefusal> {
    with_single_line_json(schema).ok_or_else(|| {
        TextRefusal::invalid("response_format", "The JSON schema must be an object.")
    })
}

/// Formats JSON on one line with a space after `,` and `:`. With flexible whitespace, a small model
/// may write only whitespace until its tokens run out.
fn with_single_line_json(schema: &Value) -> Option<Value> {
    let mut schema = schema.as_object()?.clone();
    schema.insert(
        "x-guidance".to_owned(),
        json!({
            "item_separator": ", ",
            "key_separator": ": ",
            "whitespace_flexible": false,
            "coerce_one_of": true,
        }),
    );
    Some(Value::Object(schema))
}

/// Each tool's schema is compiled separately, so that references within it stay valid.
fn build_lark_grammar(
    start: &str,
    tools: &[&PromptTool],
    further_rules: &str,
) -> Result<TopLevelGrammar, TextRefusal> {
    let mut bodies = Vec::new();
    let mut rules = further_rules.to_owned();
    for (index, tool) in tools.iter().enumerate() {
        let name = plain_name(&tool.name)?;
        let begin = quote_literal(&format!("{{\"name\": \"{name}\", \"arguments\": "));
        bodies.push(format!("{begin} arguments_{index} \"}}\""));
        let parameters = tool.parameters.clone().unwrap_or_else(|| json!({"type": "object"}));
        let parameters = with_single_line_json(&parameters).ok_or_else(|| {
            TextRefusal::invalid(
                "tools",
                format!("The parameters of {name} must be a JSON schema."),
            )
        })?;
        rules.push_str(&format!("arguments_{index}: %json {parameters}\n"));
    }
    let text = format!("start: {start}\nbody: {}\n{rules}", bodies.join(" | "));
    Ok(TopLevelGrammar::from_lark(text))
}

fn plain_name(name: &str) -> Result<&str, TextRefusal> {
    let is_short = !name.is_empty() && name.len() <= TOOL_NAME_CHARS_MAX;
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if is_short && is_plain {
        return Ok(name);
    }
    Err(TextRefusal::invalid(
        "tools",
        format!("A tool's name has 1 to {TOOL_NAME_CHARS_MAX} letters, digits, `_`, `-` or `.`."),
    ))
}

/// Quotes a string for Lark, which uses the same syntax as JSON.
fn quote_literal(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a vocabulary of single bytes, tests show the grammar itself.
    fn grammars() -> GrammarCompiler {
        GrammarCompiler::for_vocabulary(Arc::new(ApproximateTokEnv::single_byte())).unwrap()
    }

    /// The number of accepted bytes, and true if the grammar is then complete.
    fn follow(constraint: &GrammarConstraint, text: &str) -> (usize, bool) {
        let mut constraint = constraint.clone_initial();
        for (at, byte) in text.bytes().enumerate() {
            let mut logits = vec![0.0; 262];
            constraint.mask_logits(&mut logits).unwrap();
            if logits[usize::from(byte)].is_infinite() {
                return (at, constraint.is_complete());
            }
            constraint.accept_token(u32::from(byte)).unwrap();
        }
        (text.len(), constraint.is_complete())
    }

    #[track_caller]
    fn check_all(constraint: &GrammarConstraint, text: &str, is_complete: bool) {
        assert_eq!(follow(constraint, text), (text.len(), is_complete), "{text}");
    }

    #[track_caller]
    fn check_until(constraint: &GrammarConstraint, text: &str, at: usize) {
        assert_eq!(follow(constraint, text).0, at, "{text}");
    }

    fn add() -> PromptTool {
        let parameters = json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/number"}},
            "required": ["a"],
            "additionalProperties": false,
            "$defs": {"number": {"type": "integer"}},
        });
        PromptTool { name: "add".to_owned(), description: None, parameters: Some(parameters) }
    }

    #[test]
    fn a_schema_is_followed_to_its_end() {
        let schema = json!({
            "type": "object",
            "properties": {"n": {"type": "integer"}, "s": {"enum": ["a", "b"]}},
            "required": ["n", "s"],
            "additionalProperties": false,
        });
        let constraint = grammars().json_schema(&schema).unwrap();
        check_all(&constraint, r#"{"n": 12, "s": "b"}"#, true);
        check_until(&constraint, r#"{"n": "x"}"#, 6);
        check_until(&constraint, r#"{"n": 1, "s": "c"}"#, 15);
        check_until(&constraint, "{ \n", 1);
    }

    #[test]
    fn any_object_will_do_for_json_mode() {
        let constraint = grammars().json_schema(&json!({"type": "object"})).unwrap();
        check_all(&constraint, r#"{"a": [1, {"b": null}]}"#, true);
        check_until(&constraint, "[1]", 0);
    }

    #[test]
    fn a_forced_call_names_a_tool_and_keeps_its_schema() {
        let constraint = grammars().tool_calls(&[&add()], true).unwrap();
        let call = "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}\n</tool_call>";
        check_all(&constraint, call, true);
        check_until(&constraint, "<tool_call>\n{\"name\": \"mul\"", 22);
        let many = grammars().tool_calls(&[&add()], false).unwrap();
        check_all(&many, &format!("{call}\n{call}"), false);
    }

    #[test]
    fn an_answer_of_a_schema_may_be_a_call_instead() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}},
            "required": ["n"], "additionalProperties": false});
        let constraint = grammars().calls_or_json(&[&add()], true, &schema).unwrap();
        check_all(&constraint, r#"{"n": 1}"#, true);
        let call = "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}\n</tool_call>";
        check_all(&constraint, call, true);
        check_until(&constraint, "Sure", 0);
    }

    #[test]
    fn the_rest_of_a_call_may_begin_in_the_middle() {
        let mut constraint = grammars().rest_of_call(&[&add()]).unwrap();
        constraint.accept_text("\n{\"na").unwrap();
        check_all(&constraint, "me\": \"add\", \"arguments\": {\"a\": 1}}\n</tool_call>", true);
    }

    #[test]
    fn what_cannot_be_enforced_is_refused_with_the_field() {
        let refuse = |schema: Value| grammars().json_schema(&schema).map(|_| ()).unwrap_err();
        assert_eq!(
            refuse(json!(5)),
            TextRefusal::invalid("response_format", "The JSON schema must be an object.")
        );
        let unknown = refuse(json!({"type": "object", "not": {"type": "object"}})).to_string();
        assert!(unknown.starts_with("The JSON schema cannot be enforced: "), "{unknown}");
        let spaced = PromptTool { name: "a b".to_owned(), ..add() };
        let refused = grammars().tool_calls(&[&spaced], true).map(|_| ()).unwrap_err();
        assert!(matches!(refused, TextRefusal::Invalid { param: "tools", .. }), "{refused}");
    }
}
