"""A plain chat model in a seat. Needs openai, OPENAI_API_KEY, and for other endpoints OPENAI_BASE_URL."""

import os

from openai import AsyncOpenAI

from seat import serve_seat


async def answer(text: str) -> str:
    """One completion per turn: the text of a turn holds all that the model needs."""
    model = os.environ.get("MODEL", "gpt-4.1-mini")
    async with AsyncOpenAI() as client:
        completion = await client.chat.completions.create(model=model, messages=[{"role": "user", "content": text}])
    return completion.choices[0].message.content or ""


if __name__ == "__main__":
    serve_seat("chat model", answer)
