"""The protocol: tools, resources and prompts on the official SDK, the same over every transport."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any, get_args

import orjson
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
)
from pydantic import ValidationError

from services.mcp.catalogue import TOOLS
from services.mcp.handler.showing import read_overview
from services.mcp.problems import describe_problem
from services.mcp.prompts import INSTRUCTIONS, USE_MEMORY
from services.mcp.rules.rendering import Spoken
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient
from shared.fronts.problems import CallError

Context = ServerRequestContext[Any]
FindCaller = Callable[[Context], AgentCaller]
Note = Callable[[str, str], None]
MARKDOWN = "text/markdown"
OVERVIEWS: dict[str, Spoken] = {f"smartbrain://overview/{language}": language for language in get_args(Spoken)}
PROMPT = "use_memory"
NAMES: dict[Spoken, str] = {"en": "What is known about the user", "zh": "已知的用户情况"}


def make_server(compose: ComposeClient, find_caller: FindCaller, note: Note) -> Server[Any]:
    """The server; `find_caller` identifies the caller, `note` gets the result of each tool call."""

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in TOOLS:
            raise MCPError(INVALID_PARAMS, f"there is no tool {params.name[:64]!r}; there are {', '.join(TOOLS)}")
        try:
            answer = await _act(compose, find_caller(context), params)
        except CallError as problem:
            note(params.name, problem.code)
            return _tell(problem)
        except Exception as error:  # noqa: BLE001 # whatever one call brings about, the server goes on
            from shared.telemetry import frames, logger  # loads all metrics; nothing should break

            logger().error("tool_broke", tool=params.name, **frames(error))
            note(params.name, "internal")
            return _tell(CallError("internal", "an internal error"))
        note(params.name, "ok")
        return answer

    async def read_resource(context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        uri = str(params.uri)
        if uri not in OVERVIEWS:
            raise MCPError(INVALID_PARAMS, f"there is no resource {uri[:128]!r}; there are {', '.join(OVERVIEWS)}")
        try:
            text = await read_overview(compose, find_caller(context), OVERVIEWS[uri])
        except CallError as problem:
            raise MCPError(INVALID_PARAMS, problem.message, describe_problem(problem)) from problem
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)])

    return Server[Any](
        "smartbrain",
        version=version("smartbrain"),
        title="SmartBrain",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda name: TOOLS[name].shown.input_schema if name in TOOLS else None,
        on_list_tools=_list_tools,
        on_call_tool=call_tool,
        on_list_resources=_list_resources,
        on_read_resource=read_resource,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )


async def _act(compose: ComposeClient, caller: AgentCaller, params: CallToolRequestParams) -> CallToolResult:
    entry = TOOLS[params.name]
    try:
        arguments = entry.arguments.model_validate(params.arguments or {})
    except ValidationError as error:
        raise CallError("invalid_arguments", _describe_faults(params.name, error)) from error
    told = (await entry.act(compose, caller, arguments)).model_dump(mode="json", exclude_defaults=True)
    return CallToolResult(content=[TextContent(text=orjson.dumps(told).decode())], structured_content=told)


def _describe_faults(tool: str, error: ValidationError) -> str:
    """Every invalid argument with its problem, never its value."""
    faults = [
        "is not an argument of this tool" if each["type"] == "extra_forbidden" else each["msg"]
        for each in error.errors()
    ]
    places = [".".join(str(part) for part in each["loc"])[:64] for each in error.errors()]
    pairs = [f"{place}: {fault}" if place else fault for place, fault in zip(places, faults, strict=True)]
    return f"{tool}: {'; '.join(pairs[:5])}"


def _tell(problem: CallError) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=orjson.dumps(describe_problem(problem)).decode())], is_error=True)


async def _list_tools(context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
    del context, params
    return ListToolsResult(tools=[entry.shown for entry in TOOLS.values()])


async def _list_resources(context: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
    del context, params
    shown = [
        Resource(uri=uri, name=f"overview_{language}", title=NAMES[language], mime_type=MARKDOWN)
        for uri, language in OVERVIEWS.items()
    ]
    return ListResourcesResult(resources=shown)


async def _list_prompts(context: Context, params: PaginatedRequestParams | None) -> ListPromptsResult:
    del context, params
    language = PromptArgument(name="language", description="en (without it) or zh", required=False)
    about = "Tells a model how to use this memory. 告诉模型如何使用这份记忆。"
    return ListPromptsResult(prompts=[Prompt(name=PROMPT, title="Use memory", description=about, arguments=[language])])


async def _get_prompt(context: Context, params: GetPromptRequestParams) -> GetPromptResult:
    del context
    if params.name != PROMPT:
        raise MCPError(INVALID_PARAMS, f"there is no prompt {params.name[:64]!r}; there is {PROMPT}")
    asked = (params.arguments or {}).get("language", "en")
    text = next((each for language, each in USE_MEMORY.items() if language == asked), None)
    if text is None:
        raise MCPError(INVALID_PARAMS, f"language: is one of {', '.join(USE_MEMORY)}")
    return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=text))])
