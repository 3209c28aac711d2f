//! Reasons why a server gave no result.

use crate::{ARGUMENT_BYTES_MAX, NESTING_MAX, TOOL_BYTES_MAX, TOOLS_MAX};

/// Each displays as a sentence for the caller, without the server's address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpFault {
    #[error("The MCP server could not be reached.")]
    Unreachable,
    /// The caller's address was refused, or leads nowhere.
    #[error("The MCP server's address is not usable. {0}")]
    Address(String),
    #[error("The MCP server broke off its answer.")]
    Broken,
    #[error("The MCP server redirects, which is not followed.")]
    Redirected,
    #[error("The MCP server refused the authorization (status {0}).")]
    Unauthorized(u16),
    #[error("The MCP server answered with status {status}{}", detail.as_deref().map_or_else(|| ".".to_owned(), |it| format!(": {it}")))]
    Status { status: u16, detail: Option<String> },
    #[error("The MCP server's answer has more than {0} bytes.")]
    TooLarge(usize),
    #[error("The MCP server's answer is nested more than {NESTING_MAX} levels deep.")]
    TooDeep,
    #[error("The MCP server's answer is not valid JSON.")]
    NotJson,
    #[error("The MCP server's answer is neither JSON nor an event stream.")]
    MediaType,
    #[error("The MCP server answered another request.")]
    WrongId,
    #[error("The MCP server ended its stream without an answer.")]
    NoAnswer,
    #[error("The MCP server did not answer in time.")]
    TimedOut,
    #[error("Too many requests to MCP servers are in progress. Please try again shortly.")]
    Busy,
    #[error("The MCP server reported an error ({code}): {message}")]
    Rpc { code: i64, message: String },
    #[error("The MCP server asks the user for input, which is not supported.")]
    NeedsInput,
    #[error("The MCP server's answer to {0} has another form than the protocol's.")]
    Malformed(&'static str),
    #[error("The MCP server speaks no version of the protocol that is known here.")]
    Version,
    #[error(
        "The MCP server offers too many tools; name up to {TOOLS_MAX} of them, with up to \
         {TOOL_BYTES_MAX} bytes of descriptions and schemas, in `allowed_tools`."
    )]
    TooManyTools,
    #[error("The arguments have more than {ARGUMENT_BYTES_MAX} bytes.")]
    LargeArguments,
    #[error("The arguments are not a JSON object.")]
    InvalidArguments,
}

impl McpFault {
    /// True if a server of the older generation may say so to a request of the newer one.
    pub(crate) fn may_be_older_server(&self) -> bool {
        match self {
            McpFault::Status { .. }
            | McpFault::NotJson
            | McpFault::MediaType
            | McpFault::WrongId
            | McpFault::NoAnswer
            | McpFault::Rpc { .. }
            | McpFault::Malformed(_)
            | McpFault::Version => true,
            McpFault::Unreachable
            | McpFault::Address(_)
            | McpFault::Broken
            | McpFault::Redirected
            | McpFault::Unauthorized(_)
            | McpFault::TooLarge(_)
            | McpFault::TooDeep
            | McpFault::TimedOut
            | McpFault::Busy
            | McpFault::NeedsInput
            | McpFault::TooManyTools
            | McpFault::LargeArguments
            | McpFault::InvalidArguments => false,
        }
    }
}
