//! `POST /responses`: OpenAI's Responses API. Responses are not stored.

mod event;
mod input;
mod reply;
mod request;
mod tool;

pub use event::{EventBody, ResponseEvent};
pub use input::{
    AdditionalTools, CustomToolCall, CustomToolCallOutput, FunctionCall, FunctionCallOutput,
    ImageSource, Input, InputContent, InputFile, InputItem, InputMessage, InputPart, InputRole,
    ItemReference, MessageKind, OtherItem, PastCompaction, PastItem, PastReasoning, PastSearch,
    PastStatus, PastSummary, ToolOutput, ToolSearchCall, ToolSearchOutput,
};
pub use reply::{
    EchoedSelection, EchoedTool, EchoedToolChoice, EchoedToolFormat, IncompleteDetails,
    IncompleteReason, InputTokensDetails, ItemStatus, OutputItem, OutputPart, OutputTokensDetails,
    Response, ResponseAnnotation, ResponseError, ResponseStatus, ResponseUsage, SearchAction,
    SearchSource, SummaryPart,
};
pub use request::{ResponseRequest, ResponseTextFormat, ResponseTextOptions};
pub use tool::{
    CustomToolFormat, RankingOptions, ResponseTool, ResponseToolChoice, SearchContextSize,
    ToolSelection, UserLocation,
};
