"""A LangGraph graph in a seat. Needs langgraph and langchain-openai, and OPENAI_API_KEY."""

import os

from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph

from seat import serve_seat

MODEL = ChatOpenAI(model=os.environ.get("MODEL", "gpt-4.1-mini"))


def think(state: MessagesState) -> MessagesState:
    """The only node: asks the model."""
    return {"messages": [MODEL.invoke(state["messages"])]}


GRAPH = StateGraph(MessagesState).add_node(think).add_edge(START, "think").add_edge("think", END).compile()


async def answer(text: str) -> str:
    """One run of the graph per turn."""
    return str((await GRAPH.ainvoke({"messages": [("user", text)]}))["messages"][-1].content)


if __name__ == "__main__":
    serve_seat("LangGraph graph", answer)
