//! `POST /responses`: OpenAI's Responses API. Responses are not stored.

mod event;
mod input;
mod reply;
mod request;

pub use event::{EventBody, ResponseEvent};
pub use input::{
    FunctionCall, FunctionCallKind, FunctionCallOutput, FunctionCallOutputKind, ImageSource, Input,
    InputContent, InputFile, InputItem, InputMessage, InputPart, InputRole, ItemReference,
    ItemReferenceKind, MessageKind, PastReasoning, PastSearch, PastSearchKind, PastStatus,
    PastSummary, ReasoningKind,
};
pub use reply::{
    EchoedTool, EchoedToolChoice, IncompleteDetails, IncompleteReason, InputTokensDetails,
    ItemStatus, OutputItem, OutputPart, OutputTokensDetails, Response, ResponseAnnotation,
    ResponseError, ResponseStatus, ResponseUsage, SearchAction, SummaryPart,
};
pub use request::{
    RankingOptions, ResponseFunctionChoice, ResponseRequest, ResponseTextFormat,
    ResponseTextOptions, ResponseTool, ResponseToolChoice, SearchContextSize, UserLocation,
};
