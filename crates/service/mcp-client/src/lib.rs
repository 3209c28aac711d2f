//! A client of servers of the Model Context Protocol, whose tools the service calls for its models.
//!
//! [`McpConnection`] speaks both generations of the protocol: versions with a handshake
//! (`initialize`), and those whose requests stand alone (`server/discover`). It sends requests
//! through an [`McpConnector`], so the rules of the protocol need no network. Servers are not
//! trusted: all that they send is bounded, and nothing of it is followed.

mod call_outcome;
mod connection;
mod connector;
mod event_reader;
mod fault;
mod generation;
mod guarded_connector;
mod message;
mod nesting;
mod operator_connector;
mod tool;

pub use call_outcome::McpCallOutcome;
pub use connection::McpConnection;
pub use connector::{McpBody, McpConnector, McpPost, McpReply};
pub use fault::McpFault;
pub use guarded_connector::GuardedConnector;
pub use operator_connector::{InvalidMcpServer, OperatorConnector};
pub use tool::{McpTool, McpToolFilter};

/// Bytes of a call's arguments.
pub const ARGUMENT_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a call's result as the model gets it. A longer one is cut, with a note.
pub const RESULT_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a reply that are read; escapes and pictures need more than the text that is kept.
const REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Tools of one server that are offered.
pub const TOOLS_MAX: usize = 128;
/// Bytes of the names, descriptions and schemas of those tools.
pub const TOOL_BYTES_MAX: usize = 256 * 1024;
/// Pages of a list of tools.
const LIST_PAGES_MAX: usize = 16;
/// Bytes of the whole list, with tools that are not offered.
const LIST_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Characters of a tool's name.
const TOOL_NAME_CHARS_MAX: usize = 128;
/// Depth of the JSON that a server sends.
const NESTING_MAX: usize = 64;
/// Characters of a server's error message.
const MESSAGE_CHARS_MAX: usize = 1000;
