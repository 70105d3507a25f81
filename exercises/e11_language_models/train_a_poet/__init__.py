"""Train a poet: from a file of verses to a model that writes more of them.

`data/verses.txt` holds 72 short stanzas. The model is given in `model.py`; a rate near 0.005 suits it. Write `learning.train` and `writing.write`:

    text = Path("data/verses.txt").read_text()
    model, letters = train(text, seed=0)          # letters "\\n ,.T…": id 0 stands for letters[0]
    write(model, letters, "The old ", 60, generator, temperature=0.5)
    # say "The old mouse sings in the rain,\\nthe miller brings them bread in the"

- train takes at most `steps` optimizer steps, each with at most 600 characters.
- The same seed gives the same weights, whatever was drawn before; another seed gives others.
- Each character of new stanzas is predicted from those before it: with 400 steps, the mean loss is below 0.8.
- write draws `length` characters behind start, from softmax(logits / temperature). The model gets the last 48 alone.
- At temperature 0.5 three in four words that it writes are words of the text.

Fine print:
- A new stanza has no other characters than the text. letters may have any order.
- All randomness of write comes from `generator`. train leaves the global random stream where it was.
- With length=0 write returns start, which may be longer than 48 characters.
- A start with a character that letters lacks raises ValueError, an empty one as well.
- model.py may be changed, as long as ids of (batch, time) give logits of (batch, time, vocab).
"""
