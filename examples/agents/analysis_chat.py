"""A chat about data: each answer of the model is a cell of one session, and the plots are saved as files.

    PYTHONPATH=sdk/python python3 examples/agents/analysis_chat.py [FOLDER]

The script stands in for the user and the model.
"""

import sys
from pathlib import Path

from belljar import Belljar

SALES = "month,city,sales\n1,Jena,10\n2,Jena,14\n3,Jena,9\n1,Ulm,7\n2,Ulm,12\n3,Ulm,20\n"
CHAT = [
    ("What is in the file?", "import pandas as pd\nsales = pd.read_csv('sales.csv')\nsales.shape"),
    ("Which city sells most?", "sales.groupby('city').sales.sum().idxmax()"),
    ("Show me the months.", "import matplotlib.pyplot as plt\nfor city, rows in sales.groupby('city'):\n"
                            "    plt.plot(rows.month, rows.sales, label=city)\nplt.legend(); plt.show()"),
    ("And the profit?", "sales.profit.sum()"),
]

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
with Belljar() as jar, jar.session("python", files={"sales.csv": SALES}, undo=1,
                                           limits={"memory": "1g"}) as session:
    for number, (question, code) in enumerate(CHAT, 1):
        print(f"> {question}")
        cell = session.run(code)
        if cell.status != "ok":
            print(cell.explain().splitlines()[0])
            session.undo()  # the failed cell left nothing behind
            continue
        if cell.text:
            print(cell.text)
        for image in cell.images:
            path = folder / f"plot-{number}.png"
            path.write_bytes(image)
            print(f"plot-{number}.png, {len(image) // 1000} kB")
