"""GPT-2 in plain PyTorch, by the names of transformers' GPT2LMHeadModel. It reads {folder: [token, ...]} as JSON on standard
input, loads each folder, as strictly as that, and prints {folder: [logit, ...]}, (T, V) row by row."""
import json, math, struct, sys, torch
from torch import nn

class Conv1D(nn.Module):  # y = x W + b, W (in, out)
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.empty(n_in, n_out)), nn.Parameter(torch.empty(n_out))
    def forward(self, x):
        return x @ self.weight + self.bias

class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        n, self.heads = c["n_embd"], c["n_head"]
        self.ln_1, self.ln_2 = (nn.LayerNorm(n, eps=c["layer_norm_epsilon"]) for _ in range(2))
        self.attn = nn.ModuleDict({"c_attn": Conv1D(n, 3 * n), "c_proj": Conv1D(n, n)})
        self.mlp = nn.ModuleDict({"c_fc": Conv1D(n, 4 * n), "c_proj": Conv1D(4 * n, n)})
    def attention(self, x):
        t, n = x.shape
        q, k, v = (y.view(t, self.heads, -1).transpose(0, 1) for y in self.attn["c_attn"](x).split(n, dim=1))  # (NH, T, HS)
        scores = q @ k.transpose(1, 2) / math.sqrt(n // self.heads)
        weights = scores.masked_fill(torch.ones(t, t).triu(1).bool(), -math.inf).softmax(-1)
        return self.attn["c_proj"]((weights @ v).transpose(0, 1).reshape(t, n))
    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        y = self.mlp["c_fc"](self.ln_2(x))
        y = 0.5 * y * (1 + torch.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y**3)))  # gelu_new
        return x + self.mlp["c_proj"](y)

class GPT2(nn.Module):
    def __init__(self, c):
        super().__init__()
        assert c["architectures"] == ["GPT2LMHeadModel"] and c["model_type"] == "gpt2" and c["activation_function"] == "gelu_new" and not c["n_inner"]
        n = c["n_embd"]
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(c["vocab_size"], n), "wpe": nn.Embedding(c["n_positions"], n),
            "h": nn.ModuleList(Block(c) for _ in range(c["n_layer"])), "ln_f": nn.LayerNorm(n, eps=c["layer_norm_epsilon"])})
        self.lm_head = None if c["tie_word_embeddings"] else nn.Linear(n, c["vocab_size"], bias=False)
    def forward(self, ids):
        t = self.transformer
        x = t["wte"](ids) + t["wpe"](torch.arange(len(ids)))
        for block in t["h"]:
            x = block(x)
        x = t["ln_f"](x)
        return self.lm_head(x) if self.lm_head else x @ t["wte"].weight.T

def load(folder):
    raw = bytearray(open(folder + "/model.safetensors", "rb").read())
    size = struct.unpack("<Q", raw[:8])[0]
    header, data = json.loads(raw[8:8 + size]), raw[8 + size:]
    assert header.pop("__metadata__") == {"format": "pt"} and all(t["dtype"] == "F32" for t in header.values())
    tensors = {name: torch.frombuffer(data[slice(*t["data_offsets"])], dtype=torch.float32).view(t["shape"]) for name, t in header.items()}
    model = GPT2(json.load(open(folder + "/config.json")))
    model.load_state_dict(tensors)  # strict
    return model.eval()

with torch.no_grad():
    json.dump({folder: load(folder)(torch.tensor(ids)).flatten().tolist() for folder, ids in json.load(sys.stdin).items()}, sys.stdout)
